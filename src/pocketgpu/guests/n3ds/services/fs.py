"""`fs:USER`: files on the memory card. Source: 3dbrew Filesystem services; libctru's fs.c.

The card is what `run(sd=...)` names. Archives of saved data are absent, as on a console on which the program has none.
Sizes of the card and dates of its files are the same on every host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.files import FileError, Files, MemoryFile
from pocketgpu.guests.n3ds.abi import pages
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, Session, command
from pocketgpu.guests.n3ds.abi.results import Result
from pocketgpu.guests.n3ds.services.fs_sessions import RESULTS, DirectorySession, FileSession, number

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

SDMC: Final = 9
"""Archive: the memory card."""
SDMC_WRITE_ONLY: Final = 10
SAVED_DATA: Final = (4, 6, 7, 8)
"""Archives of saved data, of the program or of all."""
SYSTEM_ARCHIVES: Final = range(0x567890AB, 0x567890B0)
"""Archives of the console's own memory, which are empty here."""
_ASCII, _UTF16 = 3, 4
_WRITE, _CREATE = 2, 4
_SECTOR, _CLUSTER, _CLUSTERS, _FREE_CLUSTERS = 512, 0x8000, 0x10000, 0x8000
"""A card of 2 GiB, half of it free."""
_GET_TIMESTAMP: Final = 1
"""Action of ControlArchive: when a file was changed."""
_MEDIA_SD: Final = 1
DSP_FIRMWARE: Final = "/3ds/dspfirm.cdc"
_FIRMWARE_SIZE: Final = 0x400


class FsUser(Service):
    """The service. card: what is on the memory card. archives: those that are open, by number."""

    name, also = "fs:USER", ("fs:LDR",)

    def __init__(self, kernel: N3DSKernel, card: Files) -> None:
        super().__init__(kernel)
        self.card = card
        self.archives: dict[int, int] = {}
        self.priority = 0
        self._next = 1

    def handle(self, request: Request) -> Answer | None:
        try:
            return super().handle(request)
        except FileError as error:
            return Answer(RESULTS[error.reason], handles=(None,))

    def _path(self, request: Request, type: int, at: int) -> str:
        data = request.static(at)
        if type == _UTF16:
            return data.decode("utf-16-le", "replace").split("\0")[0]
        if type == _ASCII:
            return data.split(b"\0")[0].decode("utf-8", "backslashreplace")
        raise FileError("absent", "")

    def _archive(self, number: int) -> None:
        if self.archives.get(number) not in (SDMC, SDMC_WRITE_ONLY):
            raise FileError("absent", "")

    @command(0x801)
    def initialize(self, request: Request) -> Answer:
        return Answer()

    @command(0x861)
    def initialize_with_sdk_version(self, request: Request) -> Answer:
        return Answer()

    @command(0x862)
    def set_priority(self, request: Request) -> Answer:
        self.priority = request.words[1]
        return Answer()

    @command(0x863)
    def get_priority(self, request: Request) -> Answer:
        return Answer(values=(self.priority,))

    # -- archives ---------------------------------------------------------------------------------------------------
    @command(0x80C)
    def open_archive(self, request: Request) -> Answer:
        archive = request.words[1]
        one = self.kernel.machine.choices["guest.archives"] == "one"
        if archive in SAVED_DATA and not one:
            return Answer(Result.NOT_FORMATTED, values=(0, 0))
        if archive not in (SDMC, SDMC_WRITE_ONLY) and archive not in SYSTEM_ARCHIVES:
            return Answer(Result.ARCHIVE_NOT_FOUND, values=(0, 0))
        if one:
            number, archive = 1, SDMC
        else:
            number, self._next = self._next, self._next + 1
        self.archives[number] = archive
        return Answer(values=(number, 0))

    @command(0x80D)
    def control_archive(self, request: Request) -> Answer:
        """Commits saved data, or gives the time of a file's last change, in milliseconds since 2000."""
        if request.words[3] != _GET_TIMESTAMP:
            return Answer()
        self._archive(request.words[1])
        source, size = request.mapped(6)
        path = self.kernel.space.read(source, min(size, request.words[4])).decode("utf-16-le", "replace")
        folder, _, name = path.split("\0")[0].rstrip("/").rpartition("/")
        if name and name not in [one.name for one in self.card.list(folder or "/")]:
            raise FileError("absent", path)
        target, room = request.mapped(8)
        self.kernel.space.write(target, (pages.DATE - pages.YEAR_2000).to_bytes(8, "little")[:room])
        return Answer()

    @command(0x80E)
    def close_archive(self, request: Request) -> Answer:
        self.archives.pop(request.words[1], None)
        return Answer()

    @command(0x812)
    def get_free_bytes(self, request: Request) -> Answer:
        free = _FREE_CLUSTERS * _CLUSTER
        return Answer(values=(free & 0xFFFFFFFF, free >> 32))

    @command(0x814)
    @command(0x815)
    @command(0x849)
    def get_archive_resource(self, request: Request) -> Answer:
        return Answer(values=(_SECTOR, _CLUSTER, _CLUSTERS, _FREE_CLUSTERS))

    @command(0x845)
    def get_format_info(self, request: Request) -> Answer:
        """Of saved data, of which there is none."""
        return Answer(Result.NOT_FORMATTED)

    @command(0x855)
    @command(0x860)
    def enumerate_saved_data(self, request: Request) -> Answer:
        """How many there are: none."""
        return Answer(values=(0,))

    @command(0x85A)
    def set_archive_priority(self, request: Request) -> Answer:
        return Answer()

    @command(0x85B)
    def get_archive_priority(self, request: Request) -> Answer:
        return Answer(values=(0,))

    @command(0x866)
    def get_save_data_secure_value(self, request: Request) -> Answer:
        """There is none."""
        return Answer(values=(0, 0, 0))

    # -- the card ---------------------------------------------------------------------------------------------------
    @command(0x813)
    def get_card_type(self, request: Request) -> Answer:
        return Answer(values=(0,))

    @command(0x817)
    def is_sdmc_detected(self, request: Request) -> Answer:
        return Answer(values=(1,))

    @command(0x818)
    def is_sdmc_writable(self, request: Request) -> Answer:
        return Answer(values=(int(self.card.writable),))

    @command(0x816)
    def get_sdmc_fatfs_error(self, request: Request) -> Answer:
        return Answer(values=(0,))

    @command(0x81B)
    @command(0x81C)
    def get_speed_info(self, request: Request) -> Answer:
        """Of the card, or of the console's own memory."""
        return Answer(values=(0, 0, 0))

    @command(0x82E)
    def get_product_info(self, request: Request) -> Answer:
        """The program's code, 16 letters, company and version: none."""
        return Answer(values=(0,) * 5)

    @command(0x82F)
    def get_program_launch_info(self, request: Request) -> Answer:
        """Program id, medium: it was started from the card."""
        return Answer(values=(0, 0, _MEDIA_SD, 0))

    @command(0x822)
    @command(0x823)
    @command(0x824)
    def card_slot_power(self, request: Request) -> Answer:
        return Answer(values=(0,))

    @command(0x821)
    def card_slot_is_inserted(self, request: Request) -> Answer:
        """No cartridge is in the slot."""
        return Answer(values=(0,))

    @command(0x868)
    def get_media_type(self, request: Request) -> Answer:
        return Answer(values=(_MEDIA_SD,))

    @command(0x819)
    @command(0x81A)
    def get_cid(self, request: Request) -> Answer:
        """Numbers of the memory card and of the console's own: zeros."""
        pointer, size = request.mapped(2)
        self.kernel.space.write(pointer, bytes(min(size, 16)))
        return Answer()

    # -- files ------------------------------------------------------------------------------------------------------
    def _open(self, path: str, flags: int) -> Answer:
        try:
            file = self.card.open(path, write=bool(flags & _WRITE), create=bool(flags & _CREATE))
        except FileError:
            if path != DSP_FIRMWARE or self.kernel.machine.choices["guest.sound"] != "model":
                raise
            # The model of the sound processor needs no program, but programs look for the file.
            file = MemoryFile(_FIRMWARE_SIZE, {})
        return Answer(handles=(Session(FileSession(self.kernel, file, path)),), moved=True)

    @command(0x802)
    def open_file(self, request: Request) -> Answer:
        self._archive(request.words[2])
        return self._open(self._path(request, request.words[4], 8), request.words[6])

    @command(0x803)
    def open_file_directly(self, request: Request) -> Answer:
        if request.words[2] != SDMC:
            raise FileError("absent", "")
        return self._open(self._path(request, request.words[5], 11), request.words[7])

    @command(0x80B)
    def open_directory(self, request: Request) -> Answer:
        self._archive(request.words[1])
        path = self._path(request, request.words[3], 5)
        return Answer(handles=(Session(DirectorySession(self.kernel, list(self.card.list(path)), path)),), moved=True)

    # -- changes ----------------------------------------------------------------------------------------------------
    def _named(self, request: Request, at: int) -> str:
        """The path of a request whose archive is word 2, type word 4, descriptor at a word."""
        self._archive(request.words[2])
        return self._path(request, request.words[4], at)

    @command(0x804)
    def delete_file(self, request: Request) -> Answer:
        self.card.delete(self._named(request, 6), folder=False)
        return Answer()

    @command(0x806)
    def delete_directory(self, request: Request) -> Answer:
        self.card.delete(self._named(request, 6), folder=True)
        return Answer()

    @command(0x807)
    def delete_directory_recursively(self, request: Request) -> Answer:
        self.card.delete(self._named(request, 6), folder=True, contents=True)
        return Answer()

    @command(0x808)
    def create_file(self, request: Request) -> Answer:
        self.card.make_file(self._named(request, 9), number(request.words, 7))
        return Answer()

    @command(0x809)
    def create_directory(self, request: Request) -> Answer:
        self.card.make_folder(self._named(request, 7))
        return Answer()

    def _rename(self, request: Request, folder: bool) -> Answer:
        self._archive(request.words[6])
        old, new = self._named(request, 10), self._path(request, request.words[8], 12)
        place, _, name = old.rstrip("/").rpartition("/")
        if not [one for one in self.card.list(place or "/") if one.name == name and one.folder == folder]:
            raise FileError("absent", old)
        self.card.rename(old, new)
        return Answer()

    @command(0x805)
    def rename_file(self, request: Request) -> Answer:
        return self._rename(request, folder=False)

    @command(0x80A)
    def rename_directory(self, request: Request) -> Answer:
        return self._rename(request, folder=True)
