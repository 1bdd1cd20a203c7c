#!/usr/bin/env python3
"""Writes jobs/pipeline.textproto: the same nodes for each chunk, in three sets of buffers.

    python3 make_pipeline.py > jobs/pipeline.textproto
"""

CHUNKS, SETS = 6, 3

HEAD = """\
# Written by ../make_pipeline.py.
#
# Six frames go through upload, compute and download. There are three sets of buffers, and a frame takes the set of the
# one three before it, so that the plan has three lanes in which copies and kernels of different frames overlap:
#
#   lane 0   upload 0  compute 0  download 0  upload 3  compute 3  download 3
#   lane 1   upload 1  compute 1  download 1  upload 4  compute 4  download 4
#   lane 2   upload 2  compute 2  download 2  upload 5  compute 5  download 5
#
# Frame i is the photograph, blurred with sigma 0.5 + i.
name: "pipeline"
"""

BUFFERS = """
buffers {{ name: "color{set}" data_type: DATA_TYPE_U8 shape: [480, 640, 3] }}
buffers {{ name: "gray{set}"  data_type: DATA_TYPE_U8 shape: [480, 640] }}
buffers {{ name: "soft{set}"  data_type: DATA_TYPE_U8 shape: [480, 640] }}
"""

CHUNK = """
nodes {{
  name: "upload{chunk}"
  upload {{ dst {{ buffer: "color{set}" }} file: "../data/photo.png" }}
}}
nodes {{
  name: "gray{chunk}"
  kernel {{
    kernel: "rgb_to_gray"
    args {{ name: "src" view {{ buffer: "color{set}" }} }}
    args {{ name: "dst" view {{ buffer: "gray{set}" }} }}
  }}
}}
nodes {{
  name: "blur{chunk}"
  kernel {{
    kernel: "gaussian_blur"
    args {{ name: "src" view {{ buffer: "gray{set}" }} }}
    args {{ name: "dst" view {{ buffer: "soft{set}" }} }}
    args {{ name: "sigma" f64: {sigma} }}
  }}
}}
nodes {{
  name: "download{chunk}"
  download {{ src {{ buffer: "soft{set}" }} output: "frame{chunk}" file: "../out/frame{chunk}.png" }}
}}
"""


def main():
    text = HEAD
    for buffers in range(SETS):
        text += BUFFERS.format(set=buffers)
    for chunk in range(CHUNKS):
        text += CHUNK.format(chunk=chunk, set=chunk % SETS, sigma=0.5 + chunk)
    print(text + "\noptions { max_lanes: 3 collect_timeline: true }")


if __name__ == "__main__":
    main()
