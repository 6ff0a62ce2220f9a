import { decodeRlp, encodeRlp, type RlpItem } from '../../primitives/rlp.ts'
import { bytesEqual, type Hex } from '../../util/bytes.ts'
import { undefinedIfCoded } from '../../util/errors.ts'
import { MisplacedReference, type NodeReference, StackTrie } from '../trie/stack-trie.ts'

/** A sub-trie of the account trie or of a storage trie: the content of one chunk. */
export interface SnapshotPart {
  /** The nibbles that lead to it, one a byte. */
  readonly prefix: Uint8Array
  /** RLP of how its parent holds it: of its hash, or of itself when that is shorter than 32 bytes. */
  readonly reference: Uint8Array
}

const HASH_ITEM_BYTES = 33

/** The root of the trie that these parts make up, in the order of their keys; undefined: they make none. */
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

/** undefined: what is no reference. */
const decodeReference = (bytes: Uint8Array): NodeReference | undefined => {
  if (bytes.byteLength > HASH_ITEM_BYTES) return undefined
  const item: RlpItem | undefined = undefinedIfCoded(() => decodeRlp(bytes))
  if (item instanceof Uint8Array) return item.byteLength === 32 ? item : undefined
  return bytes.byteLength < 32 ? (item as NodeReference | undefined) : undefined
}
