# What both makefiles share.
COMMON = ../common/base.c ../common/digest.c ../common/pgc.c
SOURCES = start.S kernel.c card.c gpu.c records.c screen.c sent.c probe.c $(COMMON)
HEADERS = card.h gpu.h kernel.h facts.h records.h screen.h sent.h ../common/base.h ../common/digest.h ../common/font.h ../common/pgc.h
FLAGS = -mcpu=cortex-a57 -mno-outline-atomics -O2 -std=gnu17 -Wall -Wextra -Werror -ffreestanding -fno-builtin -nostdlib -fPIE \
	-fvisibility=hidden -fno-stack-protector -fno-asynchronous-unwind-tables -Wl,-pie -Wl,--no-dynamic-linker \
	-Wl,-z,noexecstack -Wl,-z,max-page-size=4096 -Wl,--hash-style=sysv -Wl,--build-id=none -Wl,-s -Wl,-e,start \
	-Wl,-T,program.ld -DPROGRAM='"pocketgpu probe 1"'
