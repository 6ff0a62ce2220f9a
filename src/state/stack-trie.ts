import { keccak256 } from '../crypto/hash.ts'
import { encodeRlp } from '../primitives/rlp.ts'
import { assert } from '../util/assert.ts'
import { bytesToHex, compareBytes, type Hex } from '../util/bytes.ts'
import { EMPTY_ROOT } from './account.ts'

/** A finished node as its parent holds it: its hash, or itself when its encoding is shorter than 32 bytes. */
type Reference = Uint8Array | RlpList
interface RlpList extends Array<Uint8Array | RlpList> {}

type Node =
  | { kind: 'leaf'; path: Uint8Array; readonly value: Uint8Array }
  | { kind: 'extension'; path: Uint8Array; readonly child: Node }
  | { kind: 'branch'; readonly children: (Reference | undefined)[]; last: number; open: Node }

/**
 * Root of a Merkle Patricia trie whose keys come in ascending order and are all of one length, in memory of one path: what lies left of
 * the newest key is finished and only its hash is kept. Written apart from the batch trie, so that each checks the other.
 */
export class StackTrie {
  #root: Node | undefined
  #last: Uint8Array | undefined

  add(key: Uint8Array, value: Uint8Array): void {
    const last = this.#last
    assert(last === undefined || (last.byteLength === key.byteLength && compareBytes(last, key) < 0), 'keys ascend')
    this.#last = Uint8Array.from(key)
    const path = nibblesOf(key)
    this.#root = this.#root === undefined ? leaf(path, value) : insert(this.#root, path, value)
  }

  /** The root of all keys so far; nothing can be added after. */
  root(): Hex {
    if (this.#root === undefined) return EMPTY_ROOT
    return bytesToHex(keccak256(encodeRlp(contentOf(this.#root))))
  }
}

const leaf = (path: Uint8Array, value: Uint8Array): Node => ({ kind: 'leaf', path, value })

const insert = (node: Node, path: Uint8Array, value: Uint8Array): Node => {
  if (node.kind === 'branch') {
    const at = path[0] as number
    const rest = path.subarray(1)
    if (at === node.last) {
      node.open = insert(node.open, rest, value)
      return node
    }
    node.children[node.last] = finish(node.open)
    node.last = at
    node.open = leaf(rest, value)
    return node
  }
  const shared = sharedLength(node.path, path)
  if (node.kind === 'extension' && shared === node.path.length) {
    return { kind: 'extension', path: node.path, child: insert(node.child, path.subarray(shared), value) }
  }
  const branch: Node = {
    kind: 'branch',
    children: new Array(16).fill(undefined),
    last: path[shared] as number,
    open: leaf(path.subarray(shared + 1), value),
  }
  branch.children[node.path[shared] as number] = finish(shortened(node, shared + 1))
  return shared === 0 ? branch : { kind: 'extension', path: path.subarray(0, shared), child: branch }
}

/** The node without the first nibbles of its path. */
const shortened = (node: Node & { kind: 'leaf' | 'extension' }, by: number): Node => {
  const path = node.path.subarray(by)
  if (node.kind === 'leaf') return leaf(path, node.value)
  return path.length === 0 ? node.child : { kind: 'extension', path, child: node.child }
}

const finish = (node: Node): Reference => {
  const content = contentOf(node)
  const encoded = encodeRlp(content)
  return encoded.byteLength < 32 ? content : keccak256(encoded)
}

const contentOf = (node: Node): RlpList => {
  switch (node.kind) {
    case 'leaf':
      return [compact(node.path, 0x20), node.value]
    case 'extension':
      return [compact(node.path, 0), finish(node.child)]
    case 'branch': {
      const items: RlpList = node.children.map(child => child ?? new Uint8Array(0))
      items[node.last] = finish(node.open)
      items.push(new Uint8Array(0))
      return items
    }
  }
}

/** Hex-prefix encoding (Yellow Paper, appendix C). */
const compact = (path: Uint8Array, flag: number): Uint8Array => {
  const odd = path.length & 1
  const out = new Uint8Array(1 + (path.length >> 1))
  out[0] = flag | (odd ? 0x10 | (path[0] as number) : 0)
  for (let i = odd, at = 1; i < path.length; i += 2, at++) {
    out[at] = ((path[i] as number) << 4) | (path[i + 1] as number)
  }
  return out
}

const nibblesOf = (key: Uint8Array): Uint8Array => {
  const out = new Uint8Array(key.byteLength * 2)
  key.forEach((byte, i) => {
    out[2 * i] = byte >> 4
    out[2 * i + 1] = byte & 0x0f
  })
  return out
}

const sharedLength = (a: Uint8Array, b: Uint8Array): number => {
  let i = 0
  while (i < a.length && a[i] === b[i]) i++
  return i
}
