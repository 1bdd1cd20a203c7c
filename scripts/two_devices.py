"""Runs demos/two_devices on a weftd that serves two devices, and holds its bytes to what they must be."""

import os
import subprocess
import tempfile

SIDE = 64
ROWS = {"copy, between devices"}


def device_flags(driver):
    """Flags of a weftd with two devices; None where the machine does not have two."""
    if driver == "cpu":
        return ["--cpu-devices=2"]
    gpus = [name for name in os.listdir("/dev") if name.startswith("nvidia") and name[6:].isdigit()]
    return ["--devices=0,1"] if len(gpus) > 1 else None


def check(weft, demos, folder):
    """What is wrong with the result; empty: nothing."""
    near = bytes(i * 7 % 251 for i in range(SIDE * SIDE))
    files = {name: os.path.join(folder, name) for name in ("near", "far", "got")}
    for name, content in (("near", near), ("far", bytes(SIDE * SIDE))):
        with open(files[name], "wb") as file:
            file.write(content)
    job = os.path.join(demos, "two_devices", "peer_copies.textproto")
    for command in (["put", "near", files["near"], "--device=0"], ["put", "far", files["far"], "--device=1"],
                    ["run", job, "--out-dir", folder], ["get", "far", files["got"]]):
        done = subprocess.run(weft + command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return (done.stdout + done.stderr).strip()[-500:]
    with open(files["got"], "rb") as file:
        if file.read() != near:
            return "the bytes of the other device are not those that were sent"
    with open(os.path.join(folder, "peer_tile.npy"), "rb") as file:
        tile = file.read()[-16 * 32:]
    if tile != b"".join(near[row * SIDE + 16:row * SIDE + 48] for row in range(8, 24)):
        return "the tile is not that of the other device"
    return ""


def run(prefix, driver):
    """(passed, what was said), or None where there are no two devices."""
    flags = device_flags(driver)
    if flags is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        socket = os.path.join(folder, "weftd.sock")
        weft = [os.path.join(prefix, "bin", "weft"), f"--socket={socket}"]
        daemon = subprocess.Popen(  # pylint: disable=consider-using-with
            [os.path.join(prefix, "bin", "weftd"), f"--socket={socket}", f"--driver={driver}"] + flags,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            subprocess.run(weft + ["status", "--wait=60"], capture_output=True, check=False)
            said = check(weft, os.path.join(prefix, "share", "weft", "demos"), folder)
        finally:
            daemon.terminate()
            daemon.wait()
    return not said, said
