"""`fsp-srv`: files on the memory card. Source: libnx's fs.h and fs.c; switchbrew, Filesystem services.

The card is what `run(sd=...)` names. Saved data and the console's own memory are absent, as on a console on which the
program has none. Sizes of the card and dates of its files are the same on every host.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.files import Entry, FileError, Files
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.services.fs_objects import (
    DIRECTORIES,
    FILES,
    RESULTS,
    WRITE,
    Directory,
    File,
    PathError,
    entry_of,
    path_of,
)

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

_FREE, _TOTAL = 16 << 30, 32 << 30
"""A card of 32 GiB, half of it free."""
_TIMES: Final = struct.Struct("<QQQB7x")
"""When a file was made, changed and read; whether that is known."""
_QUERY_SET_CONCATENATION: Final = 0


class FileSystemProxy(Interface):
    """The service. card: what is on the memory card."""

    name = "fsp-srv"

    def __init__(self, kernel: SwitchKernel, card: Files) -> None:
        super().__init__(kernel)
        self.card = card
        self.log_mode = 0

    @command(1)
    def set_current_process(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer()

    @command(18)
    def open_sd_card_file_system(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(FileSystem(self.kernel, self.card),))

    @command(2)
    @command(7)
    @command(8)
    @command(11)
    @command(12)
    @command(30)
    @command(31)
    @command(51)
    @command(52)
    @command(53)
    @command(110)
    @command(200)
    @command(201)
    @command(202)
    @command(203)
    def open_absent(self, request: CmifRequest) -> CmifAnswer:
        """File systems and data of titles, saved data, and the console's own memory: a program that was started
        from the card finds none."""
        return CmifAnswer(result=Result.TARGET_NOT_FOUND)

    @command(60)
    @command(61)
    @command(62)
    @command(67)
    @command(68)
    def open_save_data_info_reader(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(SaveDataInfoReader(self.kernel),))

    @command(500)
    @command(501)
    def open_detection_event_notifier(self, request: CmifRequest) -> CmifAnswer:
        """For the memory card (500) and game cards (501). Its event never fires: no card is put in or taken out."""
        return CmifAnswer(objects=(EventNotifier(self.kernel),))

    @command(400)
    def open_device_operator(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(DeviceOperator(self.kernel),))

    @command(1003)
    def disable_auto_save_data_creation(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer()

    @command(1004)
    def set_global_access_log_mode(self, request: CmifRequest) -> CmifAnswer:
        (self.log_mode,) = request.values("I")
        return CmifAnswer()

    @command(1005)
    def get_global_access_log_mode(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", self.log_mode))

    @command(1006)
    def output_access_log(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer()


class SaveDataInfoReader(Interface):
    """A list of saved data: there is none."""

    name = "ISaveDataInfoReader"

    @command(0)
    def read(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<q", 0))


class EventNotifier(Interface):
    """Gives an event. card: it, which is never signalled."""

    name = "IEventNotifier"

    def __init__(self, kernel: SwitchKernel) -> None:
        super().__init__(kernel)
        self.card = Event(Reset.STICKY, "card")

    @command(0)
    def get_event_handle(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.card,))


class DeviceOperator(Interface):
    """Slots of the console: the memory card is in, a game card is not."""

    name = "IDeviceOperator"

    @command(0)
    def is_sd_card_inserted(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(b"\1")

    @command(3)
    def get_sd_card_user_area_size(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<q", _TOTAL))

    @command(4)
    def get_sd_card_protected_area_size(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<q", 0))

    @command(200)
    def is_game_card_inserted(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(b"\0")


class FileSystem(Interface):
    """The files of the card."""

    name = "IFileSystem"

    def __init__(self, kernel: SwitchKernel, card: Files) -> None:
        super().__init__(kernel)
        self.card = card

    def handle(self, request: CmifRequest) -> CmifAnswer | None:
        try:
            return super().handle(request)
        except FileError as error:
            return CmifAnswer(result=RESULTS[error.reason])
        except PathError as error:
            return CmifAnswer(result=error.result)

    # -- changes ----------------------------------------------------------------------------------------------------
    @command(0)
    def create_file(self, request: CmifRequest) -> CmifAnswer:
        """Option (bit 0: larger than 4 GiB), size."""
        _, size = request.values("I4xq")
        if size < 0:
            return CmifAnswer(result=Result.INVALID_FILE_SIZE)
        self.card.make_file(path_of(request), size)
        return CmifAnswer()

    @command(1)
    def delete_file(self, request: CmifRequest) -> CmifAnswer:
        self.card.delete(path_of(request), folder=False)
        return CmifAnswer()

    @command(2)
    def create_directory(self, request: CmifRequest) -> CmifAnswer:
        self.card.make_folder(path_of(request))
        return CmifAnswer()

    @command(3)
    def delete_directory(self, request: CmifRequest) -> CmifAnswer:
        self.card.delete(path_of(request), folder=True)
        return CmifAnswer()

    @command(4)
    def delete_directory_recursively(self, request: CmifRequest) -> CmifAnswer:
        self.card.delete(path_of(request), folder=True, contents=True)
        return CmifAnswer()

    def _rename(self, request: CmifRequest, folder: bool) -> CmifAnswer:
        old, new = path_of(request), path_of(request, 1)
        if entry_of(self.card, old).folder != folder:
            raise FileError("absent", old)
        self.card.rename(old, new)
        return CmifAnswer()

    @command(5)
    def rename_file(self, request: CmifRequest) -> CmifAnswer:
        return self._rename(request, folder=False)

    @command(6)
    def rename_directory(self, request: CmifRequest) -> CmifAnswer:
        return self._rename(request, folder=True)

    @command(13)
    def clean_directory_recursively(self, request: CmifRequest) -> CmifAnswer:
        path = path_of(request)
        for one in self.card.list(path):
            self.card.delete(f"{path}/{one.name}", folder=one.folder, contents=True)
        return CmifAnswer()

    @command(10)
    def commit(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer()

    # -- questions --------------------------------------------------------------------------------------------------
    @command(7)
    def get_entry_type(self, request: CmifRequest) -> CmifAnswer:
        one = entry_of(self.card, path_of(request))
        return CmifAnswer(struct.pack("<I", DIRECTORIES if one.folder else FILES))

    @command(8)
    def open_file(self, request: CmifRequest) -> CmifAnswer:
        (mode,) = request.values("I")
        file = self.card.open(path_of(request), write=bool(mode & WRITE))
        return CmifAnswer(objects=(File(self.kernel, file, mode),))

    @command(9)
    def open_directory(self, request: CmifRequest) -> CmifAnswer:
        """Bit 0 of the mode: folders; bit 1: files."""
        (mode,) = request.values("I")
        wanted = [one for one in self.card.list(path_of(request)) if mode >> (DIRECTORIES if one.folder else FILES) & 1]
        return CmifAnswer(objects=(Directory(self.kernel, wanted),))

    def _existing(self, request: CmifRequest) -> Entry:
        return entry_of(self.card, path_of(request))

    @command(11)
    def get_free_space_size(self, request: CmifRequest) -> CmifAnswer:
        self._existing(request)
        return CmifAnswer(struct.pack("<q", _FREE))

    @command(12)
    def get_total_space_size(self, request: CmifRequest) -> CmifAnswer:
        self._existing(request)
        return CmifAnswer(struct.pack("<q", _TOTAL))

    @command(14)
    def get_file_time_stamp_raw(self, request: CmifRequest) -> CmifAnswer:
        """Times of the host would make runs differ: they are not known."""
        self._existing(request)
        return CmifAnswer(_TIMES.pack(0, 0, 0, 0))

    @command(15)
    def query_entry(self, request: CmifRequest) -> CmifAnswer:
        """0: make a folder one file of several parts, which nothing here needs."""
        (query,) = request.values("I")
        if query != _QUERY_SET_CONCATENATION:
            return CmifAnswer(result=Result.UNSUPPORTED_OPERATION)
        self._existing(request)
        return CmifAnswer()
