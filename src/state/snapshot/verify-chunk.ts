import { encodeRlp } from '../../primitives/rlp/rlp.ts'
import { isKeyBelow, StackTrie } from '../trie/stack-trie.ts'
import { accountLeaf } from '../update/account-leaf.ts'
import { type AccountRecord, falseSnapshot, readAccountRecords, readSlotRecords, type SlotRecord } from './records.ts'
import { isReference, type SnapshotPart } from './sub-trie.ts'

/** Decodes the accounts of a chunk, proven to be the complete part. Throws SNAPSHOT_FALSE for any other bytes. */
export const verifyAccountChunk = (chunk: Uint8Array, snapshotPart: SnapshotPart): readonly AccountRecord[] => {
  const trie = new PartTrie(snapshotPart)
  const records: AccountRecord[] = []
  for (const record of readAccountRecords(chunk)) {
    trie.add(record.key, accountLeaf(record.account))
    if (record.slots !== 'elsewhere') checkStorage(record, record.slots)
    records.push(record)
  }
  trie.check()
  return records
}

/** Decodes the slots of a part of one account's storage in the same way. */
export const verifySlotChunk = (chunk: Uint8Array, snapshotPart: SnapshotPart): readonly SlotRecord[] => {
  const trie = new PartTrie(snapshotPart)
  const records: SlotRecord[] = []
  for (const record of readSlotRecords(chunk)) {
    trie.add(record.key, encodeRlp(record.word))
    records.push(record)
  }
  trie.check()
  return records
}

const checkStorage = ({ account }: AccountRecord, slots: readonly SlotRecord[]): void => {
  const trie = new StackTrie()
  const order = new KeyOrder()
  for (const { key, word } of slots) {
    order.next(key)
    trie.add(key, encodeRlp(word))
  }
  if (trie.root() !== account.storageRoot) throw falseSnapshot('slots that do not make the storage root')
}

class PartTrie {
  readonly #snapshotPart: SnapshotPart
  readonly #trie: StackTrie
  readonly #order = new KeyOrder()

  constructor(snapshotPart: SnapshotPart) {
    this.#snapshotPart = snapshotPart
    this.#trie = new StackTrie({ skip: snapshotPart.prefix.byteLength })
  }

  add(key: Uint8Array, value: Uint8Array): void {
    this.#order.next(key)
    if (!beginsWith(key, this.#snapshotPart.prefix)) throw falseSnapshot('a key of another part')
    this.#trie.add(key, value)
  }

  check(): void {
    if (!isReference(this.#snapshotPart, this.#trie.reference()))
      throw falseSnapshot('entries that are not those of the part')
  }
}

class KeyOrder {
  #last: Uint8Array | undefined

  next(key: Uint8Array): void {
    if (this.#last !== undefined && !isKeyBelow(this.#last, key)) throw falseSnapshot('keys that do not ascend')
    this.#last = key
  }
}

const beginsWith = (key: Uint8Array, prefix: Uint8Array): boolean =>
  prefix.every((nibble, at) => nibble === (((key[at >> 1] as number) >> (at & 1 ? 0 : 4)) & 0x0f))
