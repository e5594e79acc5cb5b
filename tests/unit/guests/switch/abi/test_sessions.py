"""Messages to services of the Switch: each form of a message, and answers in each form."""

from __future__ import annotations

import struct

import pytest
from support.cmif_client import MEMORY, CmifClient, In, Out, Service

from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.abi.sessions import MOST_OBJECTS
from pocketgpu.guests.switch.kernel import SwitchKernel


class Thing(Interface):
    """Says what it was sent."""

    name = "IThing"
    tipc = True

    def __init__(self, kernel: SwitchKernel) -> None:
        super().__init__(kernel)
        self.seen: list[CmifRequest] = []
        self.event = Event(Reset.STICKY, "thing")
        self.ends = 0

    def closed(self) -> None:
        self.ends += 1

    @command(0)
    def look(self, request: CmifRequest) -> CmifAnswer:
        self.seen.append(request)
        joined = b"".join(request.input(number)[:8] + b"|" for number in range(len(request.inputs)))
        for number, one in enumerate(request.outputs):
            request.output(bytes([number + 1]) * one.size, number)
        return CmifAnswer(joined.ljust(32, b"\0"))

    @command(1)
    def more(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", 7), objects=(Thing(self.kernel), Thing(self.kernel)))

    @command(2)
    def handles(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.event,), moves=(Event(Reset.STICKY, "moved"),), objects=(Thing(self.kernel),))

    @command(3)
    def fails(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(b"never seen", Result.NOT_FOUND, objects=(Thing(self.kernel),))

    @command(4)
    def later(self, request: CmifRequest) -> CmifAnswer | None:
        kernel = self.kernel
        kernel.wait(request.thread, [self.event], lambda thread, index: request.answer(CmifAnswer(b"at last!")))
        return None

    @command(5)
    def long(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(bytes(request.values("I")[0]))


@pytest.fixture
def client() -> CmifClient:
    return CmifClient()


@pytest.fixture
def thing(client: CmifClient) -> Thing:
    return Thing(client.kernel)


@pytest.mark.parametrize("pointers", ["console", "none"])
@pytest.mark.parametrize("domain", [False, True])
def test_buffers_arrive_in_the_senders_order_however_they_are_sent(pointers: str, domain: bool) -> None:
    client = CmifClient({"guest.pointer_buffers": pointers})
    thing = Thing(client.kernel)
    service = client.open(thing)
    assert service.pointer_size == {"console": 0x8000, "none": 0}[pointers]
    if domain:
        service = service.to_domain()
    buffers = [In(b"one"), Out(5), In(b"two", "pointer"), Out(3), In(b"three"), Out(4, "fixed")]
    reply = service.ask(0, bytes(8), buffers=buffers)
    assert reply.data == b"one|two|three|".ljust(32, b"\0")
    assert reply.outputs == [b"\1" * 5, b"\2" * 3, b"\3" * 4]


def test_a_large_buffer_is_mapped_although_small_ones_are_pointers(client: CmifClient, thing: Thing) -> None:
    service = client.open(thing)
    reply = service.ask(0, buffers=[In(b"small"), In(bytes(0x9000)), In(b"last"), Out(0x9000), Out(2)])
    sizes = [one.size for one in thing.seen[0].inputs]
    assert sizes == [5, 0x9000, 4]
    assert reply.outputs == [b"\1" * 0x9000, b"\2\2"]


def test_mapped_and_exchanged_buffers(client: CmifClient, thing: Thing) -> None:
    buffers = [In(b"read", "map"), Out(2, "map"), In(b"both", "exchange")]
    reply = client.open(thing).ask(0, buffers=buffers)
    assert reply.data == b"read|both|".ljust(32, b"\0")
    assert reply.outputs == [b"\1\1", b"\2\2\2\2"]


def test_empty_buffers_keep_their_places(client: CmifClient, thing: Thing) -> None:
    client.open(thing).ask(0, buffers=[In(b""), In(b"x"), In(b"")])
    assert [one.size for one in thing.seen[0].inputs] == [0, 1, 0]


@pytest.mark.parametrize("domain", [False, True])
@pytest.mark.parametrize("token", [0, 5])
def test_arguments_process_and_handles(client: CmifClient, thing: Thing, domain: bool, token: int) -> None:
    service = client.open(thing)
    if domain:
        service = service.to_domain()
    data = struct.pack("<IQ", 5, 1 << 40)
    event = Event(Reset.STICKY)
    handle = client.kernel.handles.add(event)
    assert handle is not None
    assert service.ask(0, data, pid=True, handles=[client.process, handle, 0], token=token).result == 0
    (seen,) = thing.seen
    assert seen.values("IQ") == (5, 1 << 40)
    assert seen.pid == client.kernel.process_id
    assert list(seen.copies) == [client.kernel.process, event, None]
    assert event.outside


def test_the_arguments_of_a_request_end_where_they_end(client: CmifClient, thing: Thing) -> None:
    client.open(thing).ask(0, b"abcd", pid=True)
    client.open(thing).to_domain().ask(0, b"abcd", pid=True)
    assert [one.data for one in thing.seen] == [b"abcd", b"abcd"]


def test_objects_become_sessions_in_front_of_other_moved_handles(client: CmifClient, thing: Thing) -> None:
    reply = client.open(thing).ask(2, out_objects=1)
    assert client.object(reply.copies[0]) is thing.event and thing.event.outside
    assert repr(client.object(reply.moves[0])) == "<Event moved: off>"
    assert reply.objects[0].ask(0).result == 0


def test_objects_of_a_domain_get_the_lowest_free_ids(client: CmifClient, thing: Thing) -> None:
    service = client.open(thing).to_domain()
    handles = len(client.kernel.handles)
    first = service.ask(1, out_objects=2, size=4)
    assert first.values("I") == (7,)
    assert [one.id for one in (service, *first.objects)] == [1, 2, 3]
    assert first.objects[0].close() == 0
    assert [one.id for one in first.objects[1].ask(1, out_objects=2, size=4).objects] == [2, 4]
    assert len(client.kernel.handles) == handles


def test_objects_of_a_domain_are_handed_in(client: CmifClient, thing: Thing) -> None:
    service = client.open(thing).to_domain()
    child, _ = service.ask(1, out_objects=2, size=4).objects
    stranger = Service(client, service.handle, 99)
    assert service.ask(0, bytes(4), objects=[child, stranger], buffers=[Out(4)]).outputs == [b"\1" * 4]
    objects = thing.seen[0].objects
    assert isinstance(objects[0], Thing) and objects[1] is None


def test_clones_share_a_domain_and_copies_leave_it(client: CmifClient, thing: Thing) -> None:
    service = client.open(thing).to_domain()
    child, _ = service.ask(1, out_objects=2, size=4).objects
    twin = child.clone()
    assert (twin.id, twin.ask(0).result) == (child.id, 0)
    copied = Service(client, service.control(1, struct.pack("<I", child.id)).moves[0])
    assert copied.ask(0).result == 0
    assert service.control(1, struct.pack("<I", 50)).result == Result.DOMAIN_OBJECT_NOT_FOUND
    assert copied.control(1, bytes(4)).result == Result.NOT_A_DOMAIN
    assert service.control(0).result == Result.OUT_OF_DOMAINS
    assert service.control(9).result == Result.UNKNOWN_COMMAND
    assert len(service.control(4, struct.pack("<I", 1)).moves) == 1
    assert service.control(3, token=3).values("H") == (0x8000,)


def test_an_interface_ends_with_the_last_who_has_it(client: CmifClient, thing: Thing) -> None:
    service = client.open(thing)
    twin = service.clone()
    service.close()
    assert thing.ends == 0
    domain = twin.to_domain()
    second = domain.clone()
    assert Service(client, domain.handle).close() == 0
    assert thing.ends == 0
    client.kernel.handles.close(second.handle)  # without a message
    assert thing.ends == 1


def test_a_closed_session_answers_no_more(client: CmifClient, thing: Thing) -> None:
    service = client.open(thing)
    client.kernel.space.write(client.thread.tls, struct.pack("<2I", 2, 0))
    assert client.send(service.handle) == 0
    assert service.ask(0).call == Result.SESSION_CLOSED


def test_a_command_that_fails_gives_no_objects(client: CmifClient, thing: Thing) -> None:
    for service in (client.open(thing), client.open(thing).to_domain()):
        handles = len(client.kernel.handles)
        reply = service.ask(3, out_objects=1)
        assert (reply.call, reply.result, reply.data) == (0, Result.NOT_FOUND, b"")
        assert len(client.kernel.handles) == handles


def test_the_short_protocol(client: CmifClient, thing: Thing) -> None:
    service = client.open(thing)
    assert service.tipc(0, struct.pack("<I", 3), pid=True).result == 0
    assert thing.seen[0].values("I") == (3,) and thing.seen[0].pid == client.kernel.process_id
    reply = service.tipc(2, out_objects=1)
    assert reply.objects[0].tipc(0).result == 0 and len(reply.copies) == len(reply.moves) == 1
    assert service.tipc(3).result == Result.NOT_FOUND
    client.kernel.space.write(client.thread.tls, struct.pack("<2I", 15, 0))
    assert client.send(service.handle) == 0


def test_a_service_without_the_short_protocol(client: CmifClient) -> None:
    class Plain(Thing):
        tipc = False

    assert client.open(Plain(client.kernel)).tipc(0).call == Result.SESSION_CLOSED


def test_an_answer_that_comes_later(client: CmifClient, thing: Thing) -> None:
    service = client.open(thing)
    thing.event.outside = True
    assert service.ask(4).call is None
    client.kernel.signal(thing.event)
    assert client.thread.answer == {0: 0}
    assert service.reply().data == b"at last!"
    assert service.ask(4).call is None and client.thread.answer == {0: 0}  # at once, as the event is still on


def test_unknown_commands_are_events_with_names(client: CmifClient, thing: Thing) -> None:
    thing.name = "IFileSystem"
    assert client.open(thing).ask(8).result == Result.UNKNOWN_COMMAND
    (event,) = client.kernel.events.drain()
    assert "IFileSystem: OpenFile is not modelled" in str(event)


def test_the_trial_kernels_answer_to_unknown_commands() -> None:
    client = CmifClient({"guest.unknown_switch_command": "zeros"})
    assert client.open(Thing(client.kernel)).ask(8).data == bytes(64)


# -- what is wrong ----------------------------------------------------------------------------------------------------
def sent(client: CmifClient, service: Service, message: bytes) -> int | None:
    client.kernel.space.write(client.thread.tls, message.ljust(0x100, b"\0"))
    return client.send(service.handle)


@pytest.mark.parametrize(
    ("message", "result"),
    [
        (struct.pack("<2I", 4, 0x3FF), Result.INVALID_COMBINATION),
        (struct.pack("<2I", 4 | 15 << 20 | 15 << 24, 0), Result.INVALID_COMBINATION),
        (struct.pack("<2I", 4, 0x3C | 15 << 10), Result.INVALID_COMBINATION),
        (struct.pack("<2I", 0, 0), Result.SESSION_CLOSED),
        (struct.pack("<2I", 9, 0), Result.SESSION_CLOSED),
        (struct.pack("<3I", 4, 8 | 1 << 31, 1 << 1) + struct.pack("<I", 0x7777), Result.INVALID_HANDLE),
        (struct.pack("<4I", 4 | 1 << 16, 8, 0x10 << 16, 0x1000), Result.INVALID_MEMORY_STATE),
        (struct.pack("<5I", 4 | 1 << 24, 8, 0x10, 0x1000, 0), Result.INVALID_MEMORY_STATE),
        (struct.pack("<5I", 4 | 1 << 20, 8, 0xFFFFFFFF, 0, 0x0F << 24), Result.INVALID_MEMORY_STATE),
    ],
)  # fmt: skip
def test_messages_that_the_kernel_refuses(client: CmifClient, thing: Thing, message: bytes, result: int) -> None:
    assert sent(client, client.open(thing), message) == result


@pytest.mark.parametrize(
    ("message", "result"),
    [
        (struct.pack("<2I", 4, 0), Result.BAD_HEADER_SIZE),
        (struct.pack("<2I", 4, 7), Result.BAD_HEADER_SIZE),
        (struct.pack("<2I8x4I", 4, 8, 0x12345678, 0, 0, 0), Result.BAD_REQUEST_HEADER),
        (struct.pack("<2I8x4I", 4, 8, 0x49434653, 2, 0, 0), Result.BAD_REQUEST_HEADER),
        (struct.pack("<2I", 5, 0), Result.BAD_HEADER_SIZE),
    ],
)
def test_headers_that_a_service_refuses(client: CmifClient, thing: Thing, message: bytes, result: int) -> None:
    service = client.open(thing)
    assert sent(client, service, message) == 0
    assert service.reply().result == result


@pytest.mark.parametrize(
    ("header", "result"),
    [
        (struct.pack("<BBHIII", 1, 0, 16, 9, 0, 0), Result.OBJECT_NOT_FOUND),
        (struct.pack("<BBHIII", 3, 0, 16, 1, 0, 0), Result.BAD_REQUEST_HEADER),
        (struct.pack("<BBHIII", 1, 0, 15, 1, 0, 0), Result.BAD_HEADER_SIZE),
        (struct.pack("<BBHIII", 1, 0, 0x4000, 1, 0, 0), Result.BAD_HEADER_SIZE),
        (struct.pack("<BBHIII", 1, 200, 16, 1, 0, 0), Result.BAD_HEADER_SIZE),
        (b"", Result.BAD_HEADER_SIZE),
    ],
)
def test_headers_that_a_domain_refuses(client: CmifClient, thing: Thing, header: bytes, result: int) -> None:
    service = client.open(thing).to_domain()
    body = header + struct.pack("<4I", 0x49434653, 0, 0, 0) if header else b""
    assert sent(client, service, struct.pack("<2I8x", 4, 4 + len(body) // 4) + body) == 0
    assert service.reply().result == result


def test_an_answer_must_fit(client: CmifClient, thing: Thing) -> None:
    service = client.open(thing)
    assert len(service.ask(5, struct.pack("<I", 0xE0)).data) == 0xE0
    assert service.ask(5, struct.pack("<I", 0xE4)).call == Result.INVALID_COMBINATION


def test_a_full_table_of_handles_and_a_full_domain(client: CmifClient, thing: Thing) -> None:
    service = client.open(thing)
    handles = client.kernel.handles
    handles.limit = len(handles) + 1
    assert service.ask(1, out_objects=2).call == Result.OUT_OF_HANDLES
    assert len(handles) == handles.limit - 1
    domain = service.to_domain()
    for _ in range(MOST_OBJECTS // 2 - 1):
        assert domain.ask(1, out_objects=2, size=4).result == 0
    assert domain.ask(1, out_objects=2, size=4).result == Result.OUT_OF_OBJECTS


def test_memory_that_goes_away_under_a_service(client: CmifClient) -> None:
    class Careless(Thing):
        @command(0)
        def look(self, request: CmifRequest) -> CmifAnswer:
            self.kernel.space.unmap(MEMORY, 0x1000)
            request.input()
            return CmifAnswer()

    assert client.open(Careless(client.kernel)).ask(0, buffers=[In(b"x")]).call == Result.INVALID_MEMORY_STATE
