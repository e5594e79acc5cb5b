/* Supervisor calls that few programs make. */
#pragma once
#include "runtime.h"
SVC(svc_get_limit, 0x30)
SVC(svc_get_current, 0x31)
SVC(svc_get_process_list, 0x65)
SVC(svc_get_thread_list, 0x66)
SVC(svc_get_system_info, 0x6F)
SVC(svc_create_port, 0x70)
SVC(svc_manage_named_port, 0x71)
SVC(svc_connect_to_port, 0x72)
SVC(svc_set_process_memory_permission, 0x73)
SVC(svc_map_process_memory, 0x74)
SVC(svc_unmap_process_memory, 0x75)
SVC(svc_query_process_memory, 0x76)
SVC(svc_map_process_code_memory, 0x77)
SVC(svc_unmap_process_code_memory, 0x78)
