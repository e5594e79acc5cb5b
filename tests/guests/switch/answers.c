/* What the console says of its user, power, network and itself; which services are absent. Argument 1 "fatal": an error
 * that the program cannot handle. */
#include "services.h"

static const char *const absent[] = {"bsd:u", "irs", "hidbus", "ldr:ro", "nfc:user", "usb:ds"};
enum { INIT_FAIL_SM = 345 | 30 << 9, ERROR_SCREEN = 2 };

static void user(void) {
    u64 id[2], reserved = 0;
    u32 accounts = service("acc:u0");
    struct message start = {.command = 140, .size = 8, .arguments = &reserved, .pid = 1};
    check(request(accounts, &start), "InitializeApplicationInfo");
    check(ask(accounts, 4, 0, 0, id, sizeof id), "GetLastOpenedUser");
    char base[0x38];
    check(ask(ask_object(accounts, 5, id, sizeof id), 1, 0, 0, base, sizeof base), "GetBase");
    say(base + 24);
    say("\n");
}

static void power(void) {
    u32 battery = service("psm"), percent, hertz, degrees, sensor = 0x41000001, cpu[2] = {0x40000001, 3};
    check(ask(battery, 0, 0, 0, &percent, 4), "GetBatteryChargePercentage");
    say_number("battery", percent);
    check(ask(battery, 1, 0, 0, &percent, 4), "GetChargerType");
    say_number("charger", percent);
    check(ask(ask_object(service("clkrst"), 0, cpu, sizeof cpu), 8, 0, 0, &hertz, 4), "GetClockRate");
    say_number("clock", hertz);
    check(ask(ask_object(service("ts"), 4, &sensor, 4), 4, 0, 0, &degrees, 4), "GetTemperature");
    say_hex("temperature", degrees);
}

static void network(void) {
    u64 reserved = 0;
    struct message general = {.command = 5, .size = 8, .arguments = &reserved, .pid = 1};
    check(request(service("nifm:u"), &general), "CreateGeneralService");
    u8 status[3];
    say_hex("network", ask(general.handle[0], 18, 0, 0, status, sizeof status));
}

static void random(void) {
    u64 number = 0;
    struct message bytes = {.command = 0, .outs = 1, .out = {&number}, .out_size = {sizeof number}, .plain = 1};
    check(request(service("csrng"), &bytes), "GetRandomBytes");
    say_hex("random", number);
}

int main(void) {
    if (argument(1) && equal(argument(1), "fatal")) {
        struct { u32 result, policy; u64 process; } error = {INIT_FAIL_SM, ERROR_SCREEN, 0};
        struct message thrown = {.command = 1, .size = sizeof error, .arguments = &error, .pid = 1};
        request(service("fatal:u"), &thrown);                   /* LINE fatal */
        say("still there\n");
        return 0;
    }
    user();
    power();
    network();
    random();
    for (u32 n = 0; n < sizeof absent / sizeof *absent; n++) {
        u32 session;
        say_hex(absent[n], find_service(absent[n], &session));
    }
    return 0;
}
