import { bytesToHex } from '../../util/bytes.ts'

export interface CodeAnalysis {
  /** 1 where a JUMPDEST stands outside push data. */
  readonly jumps: Uint8Array
  /** The value of each PUSH, at the position of its first data byte. */
  readonly pushes: bigint[]
}

const analyse = (code: Uint8Array): CodeAnalysis => {
  const jumps = new Uint8Array(code.byteLength)
  const pushes: bigint[] = new Array(code.byteLength)
  for (let at = 0; at < code.byteLength; at++) {
    const op = code[at] as number
    if (op === 0x5b) jumps[at] = 1
    else if (op >= 0x60 && op <= 0x7f) {
      const size = op - 0x5f
      // Push data that runs past the end of the code is zero there.
      const hex = bytesToHex(code.subarray(at + 1, at + 1 + size)).slice(2)
      pushes[at + 1] = BigInt(`0x${hex.padEnd(size * 2, '0')}`)
      at += size
    }
  }
  return { jumps, pushes }
}

/** By identity: the state hands out one array per code as long as its cache keeps it. */
const cache = new WeakMap<Uint8Array, CodeAnalysis>()

export const knownAnalysis = (code: Uint8Array): CodeAnalysis | undefined => cache.get(code)

export const analysisOf = (code: Uint8Array): CodeAnalysis => {
  let found = cache.get(code)
  if (found === undefined) {
    found = analyse(code)
    cache.set(code, found)
  }
  return found
}
