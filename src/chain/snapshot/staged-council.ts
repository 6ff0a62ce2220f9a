import { assert } from '@tandem/base/assert.ts'
import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { COUNCIL_ADDRESS, type NetworkParams } from '../../config/networks.ts'
import { type CertificateFault, certificateFault, rejectHighS } from '../../consensus/certificate.ts'
import { keccak256Hex } from '../../crypto/hash.ts'
import { recoverAddress } from '../../crypto/signature.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import { decodeExtraData } from '../../primitives/consensus/extra-data.ts'
import { type Header, headerHash } from '../../primitives/header.ts'
import { commitRecord, RECORDS_SLOT } from '../../rules/council/council-storage.ts'
import { PROOF_STATE_SLOT } from '../../rules/proof/proof-state.ts'
import { hashedKey, readAccount, readSlot } from '../../state/flat-tables.ts'
import type { Batch } from '../../storage/batch.ts'
import type { Store } from '../../storage/store.ts'
import { Council } from '../council/council.ts'
import { readRecordRows } from '../council/council-rows.ts'
import { BlockStore } from '../store/block-store.ts'

/** Data from which the committees of a chain follow. */
export interface ChainIdentity {
  readonly params: NetworkParams
  readonly foundation: Hex
  readonly genesisHash: Hex
}

const NOTHING_CHANGED = { accounts: new Map(), storage: new Map(), cleared: new Set<Hex>() }

/** Council of a staged chain: verifies its records and derives the following one. */
export class StagedCouncil {
  readonly #store: Store
  readonly #header: Header
  readonly #identity: ChainIdentity

  constructor(store: Store, header: Header, identity: ChainIdentity) {
    this.#store = store
    this.#header = header
    this.#identity = identity
  }

  /** Returns the fault of the imported records, or null: the contract's storage commits to all, so none can be changed or left out. */
  recordsFault(): string | null {
    const { cycleBlocks } = this.#identity.params.rewards
    let commitment: Hex = ZERO_HASH
    for (let number = 0; number < this.#header.number; number += cycleBlocks) {
      const rows = readRecordRows(this.#store, number)
      if (rows === undefined) return `no record of block ${number}`
      commitment = commitRecord(commitment, rows)
    }
    const committed = readSlot(this.#store, hashedKey(COUNCIL_ADDRESS), RECORDS_SLOT)
    return commitment === committed ? null : `they make the commitment ${commitment}, the state holds ${committed}`
  }

  /** Returns the fault of the state of the proof chain, to whose hash the contract's storage commits, or null. */
  proofStateFault(proofState: Uint8Array): string | null {
    const { proofTip } = decodeExtraData(this.#header.extraData)
    if (proofTip === ZERO_HASH) return proofState.byteLength === 0 ? null : 'a proof state without a proof header'
    const committed = readSlot(this.#store, hashedKey(COUNCIL_ADDRESS), PROOF_STATE_SLOT)
    const hash = keccak256Hex(proofState)
    return hash === committed ? null : `the proof state has the hash ${hash}, the state holds ${committed}`
  }

  /** Fault of a certificate of the snapshot's block, or null. To be asked when the records are proven. */
  certificateFault(certificate: Certificate): CertificateFault | null {
    const { params, genesisHash } = this.#identity
    const { number } = this.#header
    const committee = this.#council().committee(number)
    assert(committee !== undefined, 'proven records name the committee of the block')
    const sealed = { number, blockHash: headerHash(this.#header) }
    const domain = { chainId: params.chainId, genesisHash }
    return certificateFault(certificate, sealed, committee, domain, rejectHighS(recoverAddress))
  }

  /**
   * Adds the record of the cycle that ends with the snapshot's block to the batch. No state commits to it yet: it follows from the
   * previous record, the contract's storage and the certificates in the cycle's headers. All of them must be imported.
   */
  async write(batch: Batch): Promise<void> {
    const block = await new BlockStore(this.#store).header(this.#header.number)
    assert(block !== undefined, "the snapshot's block is in")
    await this.#council().write(batch, block, NOTHING_CHANGED)
  }

  #council(): Council {
    const store = this.#store
    return new Council({
      ...this.#identity,
      store,
      blocks: new BlockStore(store),
      state: {
        account: (address: Hex) => readAccount(store, hashedKey(address)),
        storage: (address: Hex, slot: Hex) => readSlot(store, hashedKey(address), slot),
      },
    })
  }
}
