"""Ask a console: scenes in which doubtful choices show, programs that run them there, and what their answers say.

    scene = scene_of("test.stencil_write")
    usual = observe(scene.made, {})
    other = observe(scene.made, {"test.stencil_write": "any"})
    print(usual.differences(other))        # ('picture top', 'memory 0x18000000')

`scenes/` has a scene for each choice that can be made visible, `model/` runs one here and keeps what can be
looked at afterwards.
"""

from pocketgpu.probe.model.observation import Observation, observe
from pocketgpu.probe.model.scene import Made, Scene, Watch
from pocketgpu.probe.scenes import NO_SCENE, SCENES, scene_of

__all__ = ["NO_SCENE", "SCENES", "Made", "Observation", "Scene", "Watch", "observe", "scene_of"]


def __dir__() -> list[str]:
    return [*__all__]
