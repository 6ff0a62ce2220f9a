import { assert } from '@tandem/base/assert.ts'
import { bytesToHex, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../crypto/hash.ts'
import { encodeRlp } from '../../primitives/rlp/rlp.ts'
import { EMPTY_ROOT } from '../account.ts'

/** Reference to a finished node in its parent: its hash, or the node itself when its encoding is shorter than 32 bytes. */
export type NodeReference = Uint8Array | RlpList
interface RlpList extends Array<Uint8Array | RlpList> {}

/** Range of a node's values in the counted bytes, and whether parts of it were reported already. */
interface Span {
  start: number
  end: number
  isCut: boolean
}

type Node =
  | { kind: 'leaf'; path: Uint8Array; readonly value: Uint8Array; readonly span: Span }
  /** Sub-trie of which only the reference is known. */
  | { kind: 'opaque'; path: Uint8Array; readonly reference: NodeReference; readonly span: Span }
  | { kind: 'extension'; path: Uint8Array; readonly child: Node; readonly span: Span }
  | Branch

interface Branch {
  readonly kind: 'branch'
  /** Path to this node in nibbles. */
  readonly prefix: Uint8Array
  readonly children: (NodeReference | undefined)[]
  readonly spans: (Span | undefined)[]
  last: number
  open: Node
  readonly span: Span
}

/** Sub-trie with its range in the bytes of all values. */
export interface SubTrie {
  /** Path to it, one nibble per byte. */
  readonly prefix: Uint8Array
  readonly reference: NodeReference
  readonly start: number
  readonly end: number
}

interface StackTrieOptions {
  /** Number of leading nibbles that all keys share and that lead to the root of this trie. */
  readonly skip?: number
  /** Cuts the trie into its largest sub-tries of at most so many bytes, or of one key. */
  readonly cut?: { readonly bytes: number; readonly tell: (subTrie: SubTrie) => void }
}

/** References that form no trie: one covers another, or is where a trie has no node. */
export class MisplacedReference extends Error {}

/**
 * Root of a Merkle Patricia trie whose keys arrive in ascending order and have one length, in memory of one path: nodes left of the
 * newest key are finished and only their hash is kept. Independent of the batch trie, so that each checks the other.
 */
export class StackTrie {
  readonly #skip: number
  readonly #cut: StackTrieOptions['cut']
  #root: Node | undefined
  #last: Uint8Array | undefined
  #bytes = 0

  constructor({ skip = 0, cut }: StackTrieOptions = {}) {
    this.#skip = skip
    this.#cut = cut
  }

  /** `bytes`: size of the value for cutting the trie. */
  add(key: Uint8Array, value: Uint8Array, bytes = 0): void {
    const last = this.#last
    assert(last === undefined || (last.byteLength === key.byteLength && isKeyBelow(last, key)), 'keys ascend')
    this.#last = Uint8Array.from(key)
    this.#put({ kind: 'leaf', path: nibblesOf(key).subarray(this.#skip), value, span: this.#spanOf(bytes) })
  }

  /** Adds a whole sub-trie below these nibbles, after all earlier keys and sub-tries. Throws MisplacedReference. */
  addReference(prefix: Uint8Array, nodeReference: NodeReference): void {
    this.#put({ kind: 'opaque', path: Uint8Array.from(prefix), reference: nodeReference, span: this.#spanOf(0) })
  }

  /** Returns the root of all keys; nothing can be added afterwards. Throws MisplacedReference. */
  root(): Hex {
    const root = this.#root
    if (root === undefined) return EMPTY_ROOT
    const nodeReference = this.#finish(root)
    if (this.#cut !== undefined && !root.span.isCut)
      this.#cut.tell({
        prefix: new Uint8Array(0),
        reference: nodeReference,
        start: root.span.start,
        end: root.span.end,
      })
    return bytesToHex(nodeReference instanceof Uint8Array ? nodeReference : keccak256(encodeRlp(nodeReference)))
  }

  /** Returns the reference of this trie in a parent; undefined when it is empty. */
  reference(): NodeReference | undefined {
    return this.#root && this.#finish(this.#root)
  }

  #spanOf(bytes: number): Span {
    const start = this.#bytes
    this.#bytes += bytes
    return { start, end: this.#bytes, isCut: false }
  }

  #put(item: Node & { kind: 'leaf' | 'opaque' }): void {
    this.#root = this.#root === undefined ? item : this.#insert(this.#root, item, 0)
  }

  /** `depth`: nibbles of the item's path above this node. */
  #insert(node: Node, item: Node & { kind: 'leaf' | 'opaque' }, depth: number): Node {
    if (node.kind === 'branch') {
      const at = item.path[0]
      if (at === undefined || at < node.last) throw new MisplacedReference()
      item.path = item.path.subarray(1)
      if (at === node.last) {
        node.open = this.#insert(node.open, item, depth + 1)
        return node
      }
      this.#close(node)
      node.last = at
      node.open = item
      return node
    }
    const { path } = item
    const shared = sharedLength(node.path, path)
    if (node.kind === 'extension' && shared === node.path.length) {
      item.path = path.subarray(shared)
      const child = this.#insert(node.child, item, depth + shared)
      return { kind: 'extension', path: node.path, child, span: node.span }
    }
    const [before, at] = [node.path[shared], path[shared]]
    if (before === undefined || at === undefined || at < before) throw new MisplacedReference()
    item.path = path.subarray(shared + 1)
    const branch: Branch = {
      kind: 'branch',
      // The path is a view of the whole one, which began `depth` nibbles earlier.
      prefix: new Uint8Array(path.buffer, path.byteOffset - depth, depth + shared),
      children: new Array(16).fill(undefined),
      spans: new Array(16).fill(undefined),
      last: before,
      open: shortened(node, shared + 1),
      span: { start: node.span.start, end: node.span.end, isCut: false },
    }
    this.#close(branch)
    branch.last = at
    branch.open = item
    return shared === 0
      ? branch
      : { kind: 'extension', path: path.subarray(0, shared), child: branch, span: branch.span }
  }

  #close(branch: Branch): void {
    branch.children[branch.last] = this.#finish(branch.open)
    branch.spans[branch.last] = branch.open.span
    branch.span.end = branch.open.span.end
  }

  #finish(node: Node): NodeReference {
    if (node.kind === 'opaque') {
      if (node.path.length > 0) throw new MisplacedReference()
      return node.reference
    }
    const content = this.#contentOf(node)
    const encoded = encodeRlp(content)
    return encoded.byteLength < 32 ? content : keccak256(encoded)
  }

  #contentOf(node: Node & { kind: 'leaf' | 'extension' | 'branch' }): RlpList {
    switch (node.kind) {
      case 'leaf':
        return [compactPath(node.path, 0x20), node.value]
      case 'extension':
        return [compactPath(node.path, 0), this.#finish(node.child)]
      case 'branch': {
        this.#close(node)
        this.#cutBranch(node)
        const items: RlpList = node.children.map(child => child ?? EMPTY_BYTES)
        items.push(EMPTY_BYTES)
        return items
      }
    }
  }

  /** Reports the children of a branch that is too large, except those reported in parts themselves. */
  #cutBranch({ span, spans, children, prefix }: Branch): void {
    if (this.#cut === undefined || span.end - span.start <= this.#cut.bytes) return
    span.isCut = true
    for (const [nibble, child] of spans.entries()) {
      if (child === undefined || child.isCut) continue
      const { start, end } = child
      const nodeReference = children[nibble] as NodeReference
      this.#cut.tell({ prefix: Uint8Array.of(...prefix, nibble), reference: nodeReference, start, end })
    }
  }
}

/** Adjacent keys of a million differ early: a call into the runtime costs more than comparing the few bytes. */
export const isKeyBelow = (a: Uint8Array, b: Uint8Array): boolean => {
  let i = 0
  while (i < a.byteLength && a[i] === b[i]) i++
  return (a[i] ?? 0) < (b[i] ?? 0)
}

/** Returns the node without the first nibbles of its path. */
const shortened = (node: Exclude<Node, Branch>, by: number): Node => {
  const path = node.path.subarray(by)
  if (node.kind === 'extension' && path.length === 0) return node.child
  return { ...node, path }
}

/** Hex-prefix encoding (Yellow Paper, appendix C). */
export const compactPath = (path: Uint8Array, flag: number): Uint8Array => {
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
  for (let i = 0; i < key.byteLength; i++) {
    const byte = key[i] as number
    out[2 * i] = byte >> 4
    out[2 * i + 1] = byte & 0x0f
  }
  return out
}

const sharedLength = (a: Uint8Array, b: Uint8Array): number => {
  let i = 0
  while (i < a.length && a[i] === b[i]) i++
  return i
}
