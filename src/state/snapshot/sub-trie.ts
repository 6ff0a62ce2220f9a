import { bytesEqual, type Hex } from '@tandem/base/bytes.ts'
import { undefinedIfCoded } from '@tandem/base/errors.ts'
import { decodeRlp, encodeRlp, type RlpItem } from '../../primitives/rlp/rlp.ts'
import { MisplacedReference, type NodeReference, StackTrie } from '../trie/stack-trie.ts'

/** Sub-trie of the account trie or of a storage trie: the content of one chunk. */
export interface SnapshotPart {
  /** Path to it, one nibble per byte. */
  readonly prefix: Uint8Array
  /** RLP of its reference in the parent: the hash, or the node itself when shorter than 32 bytes. */
  readonly reference: Uint8Array
}

const HASH_ITEM_BYTES = 33

/** Returns the root of the trie that consists of these parts in key order; undefined when they form no trie. */
export const rootOfParts = (parts: readonly SnapshotPart[]): Hex | undefined => {
  const trie = new StackTrie()
  try {
    for (const { prefix, reference } of parts) {
      const decoded = decodeReference(reference)
      if (decoded === undefined || prefix.some(nibble => nibble > 0x0f)) return undefined
      trie.addReference(prefix, decoded)
    }
    return trie.root()
  } catch (error) {
    if (error instanceof MisplacedReference) return undefined
    throw error
  }
}

export const encodeReference = (nodeReference: NodeReference): Uint8Array => encodeRlp(nodeReference)

export const isReference = (snapshotPart: SnapshotPart, nodeReference: NodeReference | undefined): boolean =>
  nodeReference !== undefined && bytesEqual(snapshotPart.reference, encodeReference(nodeReference))

/** Returns undefined for bytes that are not a reference. */
const decodeReference = (bytes: Uint8Array): NodeReference | undefined => {
  if (bytes.byteLength > HASH_ITEM_BYTES) return undefined
  const item: RlpItem | undefined = undefinedIfCoded(() => decodeRlp(bytes))
  if (item instanceof Uint8Array) return item.byteLength === 32 ? item : undefined
  return bytes.byteLength < 32 ? (item as NodeReference | undefined) : undefined
}
