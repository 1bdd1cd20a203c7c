#!/usr/bin/env python3
"""Writes jobs/pipeline.textproto: the same nodes for each frame.

    python3 make_pipeline.py > jobs/pipeline.textproto
"""

FRAMES = 6

HEAD = """\
# Written by ../make_pipeline.py.
#
# Six frames go through upload, compute and download, on at most three lanes. Nothing orders one frame behind another, so
# each goes into the lane that is free first, and copies and kernels of three frames overlap:
#
#   lane 0   upload0 gray0 blur0 download0   upload3 gray3 blur3 download3
#   lane 1   upload1 gray1 blur1 download1   upload4 gray4 blur4 download4
#   lane 2   upload2 gray2 blur2 download2   upload5 gray5 blur5 download5
#
# A frame has the memory of the one before it in its lane: `weft plan` shows the offsets.
#
# Frame i is the photograph, blurred with sigma 0.5 + i.
name: "pipeline"
"""

FRAME = """
buffers {{ name: "color{frame}" data_type: DATA_TYPE_U8 shape: [480, 640, 3] }}
buffers {{ name: "gray{frame}"  data_type: DATA_TYPE_U8 shape: [480, 640] }}
buffers {{ name: "soft{frame}"  data_type: DATA_TYPE_U8 shape: [480, 640] }}
nodes {{
  name: "upload{frame}"
  upload {{ dst {{ buffer: "color{frame}" }} file: "../data/photo.png" }}
}}
nodes {{
  name: "gray{frame}"
  kernel {{
    kernel: "rgb_to_gray"
    args {{ name: "src" view {{ buffer: "color{frame}" }} }}
    args {{ name: "dst" view {{ buffer: "gray{frame}" }} }}
  }}
}}
nodes {{
  name: "blur{frame}"
  kernel {{
    kernel: "gaussian_blur"
    args {{ name: "src" view {{ buffer: "gray{frame}" }} }}
    args {{ name: "dst" view {{ buffer: "soft{frame}" }} }}
    args {{ name: "sigma" f64: {sigma} }}
  }}
}}
nodes {{
  name: "download{frame}"
  download {{ src {{ buffer: "soft{frame}" }} output: "frame{frame}" file: "../out/frame{frame}.png" }}
}}
"""


def main():
    print(HEAD + "".join(FRAME.format(frame=i, sigma=0.5 + i) for i in range(FRAMES)) +
          "\noptions { max_lanes: 3 collect_timeline: true }")


if __name__ == "__main__":
    main()
