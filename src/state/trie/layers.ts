import { assert } from '@tandem/base/assert.ts'
import { bytesEqual, bytesToBigint, bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { uint64FromBigint } from '@tandem/base/uint64.ts'
import { TRIE_LIMITS } from '../../config/limits/storage.ts'
import { keccak256 } from '../../crypto/hash.ts'
import { EMPTY_CODE_HASH, EMPTY_ROOT } from '../account.ts'
import { type Applied, Trie } from './trie.ts'
import type { StateProof, TrieError, TrieStats } from './types.ts'

interface Layer {
  /** Root with this layer applied. */
  readonly root: Hex
  /** Batch that undoes the layer. */
  readonly undo: Uint8Array
}

/** Times as many branches as are flushed otherwise that proofs may leave changed: they stay in memory until then. */
const MOST_RESTORED = 8

/** Where the trie stands for proofs and previews. */
interface Place {
  readonly root: Hex
  /** Root of the newest layer, and the layers that were left. */
  readonly newest: Hex
  readonly above: { readonly root: Hex; readonly redo: Uint8Array }[]
  /** Batches applied there. */
  readonly steps: { readonly batch: Uint8Array; readonly root: Uint8Array; readonly undo: Uint8Array }[]
  /** Branches that were changed without them. */
  changed: number
}

type Success = Extract<Applied, { fault: undefined }>

/** Trie with undoable blocks: layers over a permanent base. The trie is at the newest; leaving one applies its undo batch. */
export class TrieLayers {
  readonly trie: Trie
  private readonly limit: number
  private readonly layers: Layer[] = []
  private base: Hex
  /** Branches that are changed since the last flush because they were changed for proofs and previews, and back. */
  private restored = 0
  private place: Place | undefined

  /** `base`: root of the given trie. */
  constructor(limit: number, trie = new Trie(), base = EMPTY_ROOT) {
    this.limit = limit
    this.trie = trie
    this.base = base
  }

  /** Root that is final. */
  get baseRoot(): Hex {
    return this.base
  }

  get root(): Hex {
    return this.place?.newest ?? this.layers.at(-1)?.root ?? this.base
  }

  load(batch: Uint8Array): Hex {
    const { root } = this.run(batch, false)
    this.layers.length = 0
    this.base = bytesToHex(root)
    return this.base
  }

  apply(parentRoot: Hex, batch: Uint8Array): { root: Hex; storageRoots: Uint8Array<ArrayBuffer> } {
    const height = this.heightOf(parentRoot)
    while (this.layers.length > height) this.leave(false)
    const { root, storageRoots, undo } = this.run(batch, true)
    const layer: Layer = { root: bytesToHex(root), undo: undo! }
    this.layers.push(layer)
    if (this.layers.length > this.limit) this.base = this.layers.shift()!.root
    return { root: layer.root, storageRoots }
  }

  /** When a root occurs twice (a block without changes) the lower position is used: that keeps more than needed and never less. */
  commit(root: Hex): void {
    if (root === this.base) return
    const place = this.layers.findIndex(layer => layer.root === root)
    if (place < 0) throw this.unknown(root)
    this.layers.splice(0, place + 1)
    this.base = root
  }

  /** Returns a proof at `root` with the batches applied. `comeBack` is called before any call but this and `preview`. */
  prove(root: Hex, address: Hex, slots: readonly Hex[], batches: readonly Uint8Array[]): StateProof {
    this.standAt(root, batches)
    return this.proof(address, slots)
  }

  /** Returns the roots after each of the batches, applied in order to `root`; as `prove`. */
  preview(root: Hex, batches: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
    const roots = new Uint8Array(batches.length * 32)
    for (const [i, step] of this.standAt(root, batches).entries()) roots.set(step.root, i * 32)
    return roots
  }

  /** Undoes what proofs and previews have applied. */
  comeBack(): void {
    const { place } = this
    if (place === undefined) return
    this.place = undefined
    this.takeBack(place, 0)
    for (const { root: expected, redo } of place.above.reverse()) {
      const { root: got, undo } = this.run(redo, true)
      assert(bytesToHex(got) === expected, 'a layer put back has the root it had')
      this.layers.push({ root: expected, undo: undo! })
    }
  }

  /** Moves to the base while the work runs, which leaves the trie unchanged. */
  atBase<T>(work: () => T): T {
    this.standAt(this.base, [])
    try {
      return work()
    } finally {
      this.comeBack()
    }
  }

  /** Branches that the rows do not have, and that proofs of old blocks do not make: clients could have all of them written with each block. */
  get changedBranches(): number {
    const { changedBranches } = this.trie
    return changedBranches > MOST_RESTORED * TRIE_LIMITS.flushBranches
      ? changedBranches
      : changedBranches - this.restored
  }

  /** Rows of what has changed at the base; the trie is as they are. */
  flush(): ReturnType<Trie['flush']> {
    this.restored = 0
    if (this.place !== undefined) this.place.changed = 0
    return this.trie.flush()
  }

  stats(): TrieStats {
    return { ...this.trie.stats(), layers: this.layers.length }
  }

  /** Moves to `root` with the batches applied, until `comeBack`; those in place stay, as a simulation asks with each block. */
  private standAt(root: Hex, batches: readonly Uint8Array[]): Place['steps'] {
    if (this.place?.root !== root) {
      this.comeBack()
      const height = this.heightOf(root)
      const place: Place = { root, newest: this.root, above: [], steps: [], changed: 0 }
      while (this.layers.length > height) place.above.push({ root: this.root, redo: this.leave(true)! })
      place.changed = this.trie.changedBranches
      this.place = place
    }
    const { steps } = this.place
    const same = steps.findIndex(({ batch }, i) => batches[i] === undefined || !bytesEqual(batch, batches[i]))
    if (same >= 0) this.takeBack(this.place, same)
    for (const batch of batches.slice(steps.length)) {
      const applied = this.run(batch, true)
      steps.push({ batch, root: applied.root, undo: applied.undo! })
    }
    return steps
  }

  /** Undoes the batches of a place from one on. */
  private takeBack(place: Place, from: number): void {
    for (const { undo } of place.steps.splice(from).reverse()) this.run(undo, false)
    if (from > 0) return
    this.restored += this.trie.changedBranches - place.changed
    place.changed = this.trie.changedBranches
  }

  private proof(address: Hex, slots: readonly Hex[]): StateProof {
    const key = keccak256(hexToBytes(address))
    const { nodes, account } = this.trie.proveAccount(key)
    return {
      root: bytesToHex(this.trie.root()),
      address,
      accountProof: nodes,
      balance: account === undefined ? 0n : bytesToBigint(account.balance),
      nonce: uint64FromBigint(account?.nonce ?? 0n),
      codeHash: account === undefined ? EMPTY_CODE_HASH : bytesToHex(account.codeHash),
      storageHash: account === undefined ? EMPTY_ROOT : bytesToHex(account.storageRoot),
      storageProof: slots.map(slot => {
        const proven = this.trie.proveSlot(key, keccak256(hexToBytes(slot)))
        return { key: slot, value: proven.value === undefined ? 0n : bytesToBigint(proven.value), proof: proven.nodes }
      }),
    }
  }

  /** Returns the number of layers at a root; of several positions the highest, which undoes least. */
  private heightOf(root: Hex): number {
    const place = this.layers.findLastIndex(layer => layer.root === root)
    if (place >= 0) return place + 1
    if (root === this.base) return 0
    throw this.unknown(root)
  }

  private unknown(asked: Hex): CodedError<TrieError> {
    return new CodedError({ code: 'TRIE_UNKNOWN_ROOT', asked, current: this.root })
  }

  /** Undoes the newest layer; returns the batch that would apply it again. */
  private leave(withRedo: boolean): Uint8Array | undefined {
    const layer = this.layers.pop()
    assert(layer !== undefined, 'there is a layer to leave')
    const { root, undo } = this.run(layer.undo, withRedo)
    assert(bytesToHex(root) === this.root, 'an undo leads back to the root before')
    return undo
  }

  private run(batch: Uint8Array, withUndo: boolean): Success {
    const applied = this.trie.apply(batch, withUndo)
    if (applied.fault !== undefined) throw new CodedError<TrieError>({ code: 'TRIE_BAD_BATCH', reason: applied.fault })
    return applied
  }
}
