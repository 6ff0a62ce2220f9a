import { FRAGMENT_BYTES, FRAME_HEADER_BYTES } from '../../../src/network/wire/frames.ts'

/** Cuts bytes into their frames, as records carry them; what is no whole frame goes as it is. */
export const framesOf = (bytes: Uint8Array): readonly Uint8Array[] => {
  const frames: Uint8Array[] = []
  for (let at = 0; at < bytes.byteLength; at += frames.at(-1)?.byteLength ?? 0) {
    const rest = bytes.subarray(at)
    const isShort = rest.byteLength < FRAME_HEADER_BYTES
    const length = isShort ? 0 : FRAME_HEADER_BYTES + new DataView(rest.buffer, rest.byteOffset).getUint32(0)
    frames.push(isShort || length > rest.byteLength ? rest.subarray(0, FRAGMENT_BYTES) : rest.subarray(0, length))
  }
  return frames
}
