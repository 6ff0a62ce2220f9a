import type { Hex } from '@tandem/base/bytes.ts'
import { uint64FromBigint } from '@tandem/base/uint64.ts'
import { type Account, EMPTY_CODE_HASH, EMPTY_ROOT } from '../../state/account.ts'
import type { AsyncStateReader } from '../../state/state-reader.ts'
import { keccak256Hex } from '../keccak.ts'
import type { NodeClient } from './node-client.ts'

/** State of the head of a node elsewhere. Two reads may see two blocks. */
export class RemoteState implements AsyncStateReader {
  readonly #node: NodeClient

  constructor(node: NodeClient) {
    this.#node = node
  }

  /** The root of its storage is not known, and left empty. */
  async account(address: Hex): Promise<Account | undefined> {
    const [balance, nonce, code] = await Promise.all([
      this.#node.call('eth_getBalance', address, 'latest'),
      this.#node.call('eth_getTransactionCount', address, 'latest'),
      this.code(address),
    ])
    const account: Account = {
      balance: balance.quantity(),
      nonce: uint64FromBigint(nonce.quantity()),
      codeHash: code.byteLength === 0 ? EMPTY_CODE_HASH : keccak256Hex(code),
      storageRoot: EMPTY_ROOT,
    }
    const isEmpty = account.balance === 0n && account.nonce === 0 && account.codeHash === EMPTY_CODE_HASH
    return isEmpty ? undefined : account
  }

  async storage(address: Hex, slot: Hex): Promise<Hex> {
    return (await this.#node.call('eth_getStorageAt', address, slot, 'latest')).hex(32)
  }

  async code(address: Hex): Promise<Uint8Array> {
    return (await this.#node.call('eth_getCode', address, 'latest')).bytes()
  }

  release(): void {
    // Nothing is held.
  }
}
