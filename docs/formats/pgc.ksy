meta:
  id: pgc
  title: pocketgpu capture
  file-extension: pgc
  license: CC0-1.0
  ks-version: '0.10'
  endian: le
doc: |
  What a program asked the GPU of a Nintendo 3DS or Switch to do, and what the screens must show.
  Sections that are stored are read as records here. Unpack the payload of others (codec 1: a zstd frame, codec 2: LZMA
  alone) and read it as the type "records". Blocks of memory are numbered through all sections of a file.
doc-ref: pgc.md
seq:
  - id: header
    type: header
  - id: sections
    type: section
    repeat: eos
enums:
  console:
    1: n3ds
    2: switch
  codec:
    0: stored
    1: zstd
    2: lzma
  section_kind:
    1: records
    2: end
  record_type:
    0x01: about
    0x02: coverage
    0x03: state
    0x0f: frame
    0x10: load
    0x11: writes
    0x12: write8
    0x13: write16
    0x14: gx
    0x15: swap
    0x16: translate
    0x20: map
    0x21: unmap
    0x22: store
    0x23: submit
    0x24: syncpoint
    0x25: present
    0x26: map_part
    0x27: present_part
  picture_form:
    0: same
    1: digest
types:
  header:
    seq:
      - id: magic
        contents: [0x89, 0x50, 0x47, 0x43, 0x0d, 0x0a, 0x1a, 0x0a]
      - id: version
        type: u1
      - id: console
        type: u1
        enum: console
      - id: digest_size
        type: u1
      - id: check_left_out
        type: u1
      - id: crc
        type: u4
  section:
    seq:
      - id: kind
        type: u1
        enum: section_kind
      - id: codec
        type: u1
        enum: codec
      - id: len_payload
        type: u4
      - id: len_plain
        type: u4
      - id: end
        type: end
        size: len_payload
        if: kind == section_kind::end
      - id: stored
        type: records(_root.header.digest_size, 4 - _root.header.check_left_out)
        size: len_payload
        if: kind == section_kind::records and codec == codec::stored
      - id: packed
        size: len_payload
        if: kind == section_kind::records and codec != codec::stored
      - id: crc
        type: u4
  end:
    seq:
      - id: num_frames
        type: u4
      - id: num_record_sections
        type: u4
  records:
    params:
      - id: digest_size
        type: u1
      - id: check_size
        type: u1
    seq:
      - id: records
        type: record(digest_size, check_size)
        repeat: eos
  record:
    params:
      - id: digest_size
        type: u1
      - id: check_size
        type: u1
    seq:
      - id: type
        type: u1
        enum: record_type
      - id: body
        type:
          switch-on: type
          cases:
            'record_type::about': about
            'record_type::coverage': coverage
            'record_type::state': state
            'record_type::frame': frame(digest_size, check_size)
            'record_type::load': load
            'record_type::writes': writes
            'record_type::write8': write8
            'record_type::write16': write16
            'record_type::gx': gx
            'record_type::swap': swap
            'record_type::translate': translate
            'record_type::map': map
            'record_type::unmap': unmap
            'record_type::store': store
            'record_type::submit': submit
            'record_type::syncpoint': syncpoint
            'record_type::present': present
            'record_type::map_part': map_part
            'record_type::present_part': present_part
  varint:
    doc: Groups of seven bits, lowest first; at most ten of them.
    seq:
      - id: groups
        type: u1
        repeat: until
        repeat-until: _ < 0x80
    instances:
      value:
        value: >-
          (groups[0] & 0x7f)
          + (groups.size > 1 ? (groups[1] & 0x7f) * 0x80 : 0)
          + (groups.size > 2 ? (groups[2] & 0x7f) * 0x4000 : 0)
          + (groups.size > 3 ? (groups[3] & 0x7f) * 0x200000 : 0)
          + (groups.size > 4 ? (groups[4] & 0x7f) * 0x10000000 : 0)
          + (groups.size > 5 ? (groups[5] & 0x7f) * 0x800000000 : 0)
          + (groups.size > 6 ? (groups[6] & 0x7f) * 0x40000000000 : 0)
          + (groups.size > 7 ? (groups[7] & 0x7f) * 0x2000000000000 : 0)
          + (groups.size > 8 ? (groups[8] & 0x7f) * 0x100000000000000 : 0)
  text:
    seq:
      - id: len
        type: varint
      - id: text
        type: str
        encoding: UTF-8
        size: len.value
  data:
    seq:
      - id: num_pieces
        type: varint
      - id: pieces
        type: piece
        repeat: expr
        repeat-expr: num_pieces.value
  piece:
    seq:
      - id: back
        type: varint
        doc: 0 for a new block, k for the k-th newest one.
      - id: len_block
        type: varint
        if: back.value == 0
      - id: block
        size: len_block.value
        if: back.value == 0
  register_write:
    seq:
      - id: address
        type: u4
      - id: value
        type: u4
  about:
    seq:
      - id: key
        type: text
      - id: value
        type: text
  coverage:
    seq:
      - id: bits
        type: varint
  state:
    seq:
      - id: item
        type: u1
      - id: channel
        type: varint
      - id: class_id
        type: varint
      - id: first
        type: varint
      - id: num_words
        type: varint
      - id: words
        type: u4
        repeat: expr
        repeat-expr: num_words.value
  frame:
    params:
      - id: digest_size
        type: u1
      - id: check_size
        type: u1
    seq:
      - id: num_pictures
        type: varint
      - id: pictures
        type: picture(digest_size)
        repeat: expr
        repeat-expr: num_pictures.value
      - id: check
        size: check_size
  picture:
    params:
      - id: digest_size
        type: u1
    seq:
      - id: screen
        type: u1
      - id: form
        type: u1
        enum: picture_form
      - id: digest
        size: digest_size
        if: form == picture_form::digest
  load:
    seq:
      - id: address
        type: u4
      - id: data
        type: data
  writes:
    seq:
      - id: num_writes
        type: varint
      - id: writes
        type: register_write
        repeat: expr
        repeat-expr: num_writes.value
  write8:
    seq:
      - id: address
        type: u4
      - id: value
        type: u1
  write16:
    seq:
      - id: address
        type: u4
      - id: value
        type: u2
  gx:
    seq:
      - id: words
        type: u4
        repeat: expr
        repeat-expr: 8
  swap:
    seq:
      - id: screen
        type: u1
      - id: info
        type: u4
        repeat: expr
        repeat-expr: 7
      - id: num_writes
        type: varint
      - id: writes
        type: register_write
        repeat: expr
        repeat-expr: num_writes.value
  translate:
    seq:
      - id: virt
        type: u4
      - id: phys
        type: u4
      - id: len
        type: varint
  map:
    seq:
      - id: id
        type: varint
      - id: address
        type: varint
      - id: len
        type: varint
      - id: handle
        type: varint
      - id: kind
        type: u1
  map_part:
    seq:
      - id: id
        type: varint
      - id: address
        type: varint
      - id: len
        type: varint
      - id: handle
        type: varint
      - id: offset
        type: varint
      - id: kind
        type: u1
  unmap:
    seq:
      - id: id
        type: varint
  store:
    seq:
      - id: place
        type: u1
      - id: handle
        type: varint
      - id: offset
        type: varint
      - id: address
        type: varint
      - id: data
        type: data
  submit:
    seq:
      - id: channel
        type: varint
      - id: num_entries
        type: varint
      - id: entries
        type: u8
        repeat: expr
        repeat-expr: num_entries.value
  syncpoint:
    seq:
      - id: number
        type: varint
      - id: value
        type: varint
  present:
    seq:
      - id: address
        type: varint
      - id: place
        type: u1
      - id: handle
        type: varint
      - id: offset
        type: varint
      - id: width
        type: varint
      - id: height
        type: varint
      - id: format
        type: u1
      - id: layout
        type: u1
      - id: block_height_log2
        type: u1
      - id: stride
        type: varint
      - id: transform
        type: u1
      - id: has_fence
        type: u1
      - id: syncpoint
        type: varint
        if: has_fence != 0
      - id: syncpoint_value
        type: varint
        if: has_fence != 0
  present_part:
    seq:
      - id: surface
        type: present
      - id: left
        type: varint
      - id: top
        type: varint
