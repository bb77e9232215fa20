"""Leaves out of a shared object with CUDA kernels what a model in bfloat16 with heads of 128 does not need on an
sm_90: the file keeps its layout, and what is left out is zeros, which compress well. Usage: prune.py FILE OUT"""
import struct, sys

b = bytearray(open(sys.argv[1], 'rb').read())
table, = struct.unpack_from('<Q', b, 0x28)
size, count, names = struct.unpack_from('<HHH', b, 0x3A)
sections = [struct.unpack_from('<IIQQQQIIQQ', b, table + i * size) for i in range(count)]
names = sections[names][4]
at, length = next(s[4:6] for s in sections if b[names + s[0]:].startswith(b'.nv_fatbin\0'))
end, kept, gone = at + length, 0, 0
while at < end:
    if struct.unpack_from('<I', b, at)[0] != 0xBA55ED50:
        at += 8
        continue
    header, = struct.unpack_from('<H', b, at + 6)
    part = at + header
    at = part + struct.unpack_from('<Q', b, at + 8)[0]
    parts = []
    while part < at:
        kind, _, header, length = struct.unpack_from('<HHIQ', b, part)
        arch, = struct.unpack_from('<I', b, part + 28)
        parts.append((kind, arch, part, part + header, length))
        part += header + length
    native = any(kind == 2 and arch == 90 for kind, arch, *_ in parts)
    for kind, arch, part, body, length in parts:
        code = b[body:body + length]
        other = b'FlashAttnFwdSm90' in code and b'Li128ENS_10bfloat16_tEfNS_4arch' not in code
        if kind == 2 and arch == 90 and not other or kind == 1 and not native and length < 100_000:
            kept += length
            continue
        gone += length
        b[body:body + length] = bytes(length)
        if arch == 90:  # not to be found as code of this device
            struct.pack_into('<I', b, part + 28, 120)
open(sys.argv[2], 'wb').write(b)
print(sys.argv[2], 'kept', kept, 'left out', gone)
