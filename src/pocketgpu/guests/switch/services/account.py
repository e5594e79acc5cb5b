"""`acc:u0`, `acc:u1`, `acc:su`: the people who use the console. Here it is one. Source: libnx's acc.h and acc.c;
switchbrew Account services.

Nobody has chosen this user for the program, as when homebrew is started from the album: programs that ask who plays are
told nobody, and find the user in the list.
"""

from __future__ import annotations

import struct
from typing import Final

from pocketgpu.guests.kernel.timeline import START_DATE
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.abi.users import NICKNAME, NOBODY, USER

MOST_USERS: Final = 8
_PROFILE: Final = struct.pack("<16sQ32s", USER, START_DATE, NICKNAME.encode())
"""User, when the profile was changed, name."""
_USER_DATA: Final = struct.pack("<2IB119x", 0, 1, 0)
"""Among what it says: the picture is the first of those that come with the console, and no Mii."""


def _picture() -> bytes:
    """A JPEG of 256x256 pixels, all grey: 1,024 blocks of 8x8, each of them two bits, "no change" and "end"."""
    marker, side, blocks = struct.Struct(">BBH"), 256, 1024
    parts = [b"\xff\xd8", marker.pack(0xFF, 0xDB, 67), b"\0", b"\1" * 64]
    parts += [marker.pack(0xFF, 0xC0, 11), struct.pack(">B2H4B", 8, side, side, 1, 1, 0x11, 0)]
    for kind in (0x00, 0x10):  # one code of one bit in each table: for a change of 0, and for the end of a block
        parts += [marker.pack(0xFF, 0xC4, 20), struct.pack(">2B15xB", kind, 1, 0)]
    parts += [marker.pack(0xFF, 0xDA, 8), bytes((1, 1, 0, 0, 63, 0)), bytes(blocks * 2 // 8), b"\xff\xd9"]
    return b"".join(parts)


PICTURE: Final = _picture()


class Accounts(Interface):
    """What all services of accounts have."""

    @command(0)
    def get_user_count(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<i", 1))

    @command(1)
    def get_user_existence(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", request.data[: len(USER)] == USER))

    @command(2)
    def list_all_users(self, request: CmifRequest) -> CmifAnswer:
        request.output(USER.ljust(MOST_USERS * len(USER), b"\0"))
        return CmifAnswer()

    @command(3)
    def list_open_users(self, request: CmifRequest) -> CmifAnswer:
        """Those who play now: nobody was chosen."""
        request.output(NOBODY * MOST_USERS)
        return CmifAnswer()

    @command(4)
    def get_last_opened_user(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(USER)

    @command(5)
    def get_profile(self, request: CmifRequest) -> CmifAnswer:
        if request.data[: len(USER)] != USER:
            return CmifAnswer(result=Result.NO_USER)
        return CmifAnswer(objects=(Profile(self.kernel),))

    @command(50)
    def is_user_registration_request_permitted(self, request: CmifRequest) -> CmifAnswer:
        """Whether the program may ask for a new user: nobody could make one here."""
        return CmifAnswer(struct.pack("<B", False))

    @command(51)
    def try_select_user_without_interaction(self, request: CmifRequest) -> CmifAnswer:
        """The only user; nobody if it must have an account on the network."""
        (on_network,) = request.values("B")
        return CmifAnswer(NOBODY if on_network else USER)


class ApplicationAccounts(Accounts):
    """`acc:u0`, for applications."""

    name = "acc:u0"

    @command(100)
    @command(140)
    @command(160)
    def initialize_application_info(self, request: CmifRequest) -> CmifAnswer:
        """The program says which process it is."""
        return CmifAnswer()

    @command(131)
    @command(141)
    def list_users_of_application(self, request: CmifRequest) -> CmifAnswer:
        """Those with something open in the program, or who may use it: none, and the one."""
        all_may = request.command == 141
        request.output((USER if all_may else NOBODY).ljust(MOST_USERS * len(USER), b"\0"))
        return CmifAnswer()

    @command(150)
    def is_user_account_switch_locked(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", False))


class SystemAccounts(Accounts):
    """`acc:u1`, for programs of the system."""

    name = "acc:u1"


class AdministratorAccounts(Accounts):
    """`acc:su`, for settings."""

    name = "acc:su"


class Profile(Interface):
    """What a user shows of itself."""

    name = "IProfile"

    @command(0)
    def get(self, request: CmifRequest) -> CmifAnswer:
        request.output(_USER_DATA)
        return CmifAnswer(_PROFILE)

    @command(1)
    def get_base(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(_PROFILE)

    @command(10)
    def get_image_size(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", len(PICTURE)))

    @command(11)
    def load_image(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", request.output(PICTURE)))
