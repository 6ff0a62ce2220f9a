import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import { createAddress } from '../../../src/primitives/receipt/address.ts'
import type { UnsignedTransaction } from '../../../src/primitives/transaction/transaction-encoding.ts'
import { ACCOUNT_KEYS, ACCOUNTS, signedRaw } from '../../support/chain.ts'
import { withDevNode } from '../../support/dev-node.ts'
import { failingContract, revertWith } from '../../support/explorer/failing-contract.ts'
import { tokenContracts } from '../../support/explorer/token-chain.ts'

interface Answer {
  readonly blockHash: Hex
  readonly transfers: readonly Record<string, string>[]
  readonly next: Hex | null
}

const BOB = `0x${'b0'.repeat(20)}`

test('what code moved in a block is told in order, and only what took effect', () =>
  withDevNode(async ask => {
    const purse = createAddress(ACCOUNTS[0] as Hex, 0)
    let nonce = 0
    const submit = (fields: Partial<UnsignedTransaction>): Promise<unknown> => {
      const raw = signedRaw(ACCOUNT_KEYS[0] as Uint8Array, { gasLimit: 3_000_000n, nonce: nonce++, ...fields })
      return ask('eth_sendRawTransaction', bytesToHex(raw))
    }
    await submit({ to: null, data: tokenContracts()['Purse']?.bytecode as Uint8Array })
    for (const selector of ['82c4b3b2', 'e8199063', 'c74073a1'])
      await submit({ to: purse, value: 7n, data: hexToBytes(`0x${selector}${BOB.slice(2).padStart(64, '0')}`) })
    await ask('evm_mine')
    const moved: Record<string, string>[] = []
    const head = Number(await ask<Hex>('eth_blockNumber'))
    for (let number = 0; number <= head; number++) {
      const { hash } = await ask<{ hash: Hex }>('eth_getBlockByNumber', `0x${number.toString(16)}`, false)
      const answer = await ask<Answer>('native_getInternalTransfers', `0x${number.toString(16)}`)
      expect(answer).toMatchObject({ blockHash: hash, next: null })
      moved.push(...answer.transfers)
      const rest = await ask<Answer>('native_getInternalTransfers', hash, '0x1')
      expect(rest.transfers).toEqual(answer.transfers.slice(1))
    }
    expect(moved.map(({ type, from, to, value }) => [type, from, to, value])).toEqual([
      ['call', purse, BOB, '0x7'],
      ['selfdestruct', purse, BOB, '0x7'],
    ])
    expect(await ask('native_getInternalTransfers', '0xffff')).toBeNull()
    expect(await ask('native_getInternalTransfers', 'pending')).toBeNull()
  }))

interface FailedAnswer {
  readonly blockHash: Hex
  readonly failed: readonly Record<string, string>[]
  readonly next: Hex | null
}

test('why transactions of a block failed is told in order', () =>
  withDevNode(async ask => {
    const address = createAddress(ACCOUNTS[0] as Hex, 0)
    let nonce = 0
    const submit = (fields: Partial<UnsignedTransaction>): Promise<unknown> => {
      const raw = signedRaw(ACCOUNT_KEYS[0] as Uint8Array, { gasLimit: 3_000_000n, nonce: nonce++, ...fields })
      return ask('eth_sendRawTransaction', bytesToHex(raw))
    }
    const call = (name: string): Promise<unknown> =>
      submit({ to: address, data: hexToBytes(keccak256Hex(new TextEncoder().encode(`${name}()`))).slice(0, 4) })
    await submit({ to: null, data: failingContract() })
    await ask('evm_mine')
    await ask('evm_setAutomine', false)
    for (const name of ['text', 'endless', 'three']) await call(name)
    await ask('evm_mine')
    const number = await ask<Hex>('eth_blockNumber')
    const { hash } = await ask<{ hash: Hex }>('eth_getBlockByNumber', number, false)
    const answer = await ask<FailedAnswer>('native_getFailedTransactions', number)
    expect(answer).toEqual({
      blockHash: hash,
      failed: [
        {
          transactionIndex: '0x0',
          error: 'execution reverted',
          output: bytesToHex(revertWith('no beans left').output),
        },
        { transactionIndex: '0x1', error: 'out of gas', output: '0x' },
        { transactionIndex: '0x2', error: 'execution reverted', output: '0xffffff' },
      ],
      next: null,
    })
    const rest = await ask<FailedAnswer>('native_getFailedTransactions', hash, '0x2')
    expect(rest.failed).toEqual(answer.failed.slice(2))
    expect(await ask('native_getFailedTransactions', '0xffff')).toBeNull()
    expect(await ask('native_getFailedTransactions', 'pending')).toBeNull()
  }))

test('calls, traces and causes of failed transactions give one reason for the same failure', () =>
  withDevNode(async ask => {
    // PUSH0 JUMP; codes of one byte 0xef and of 24,577 bytes.
    const codes: readonly (readonly [string, Hex])[] = [
      ['invalid jump destination', '0x5f56'],
      ['invalid code: must not begin with 0xef', '0x60ef5f5360015ff3'],
      ['max code size exceeded', '0x6160015ff3'],
    ]
    await ask('evm_setAutomine', false)
    for (const [nonce, [, code]] of codes.entries()) {
      const fields = { to: null, nonce, gasLimit: 3_000_000n, data: hexToBytes(code) }
      await ask('eth_sendRawTransaction', bytesToHex(signedRaw(ACCOUNT_KEYS[0] as Uint8Array, fields)))
    }
    await ask('evm_mine')
    const number = await ask<Hex>('eth_blockNumber')
    const { failed } = await ask<FailedAnswer>('native_getFailedTransactions', number)
    expect(failed.map(({ error }) => error)).toEqual(codes.map(([reason]) => reason))
    const traces = await ask<readonly { readonly result: object }[]>('debug_traceBlockByNumber', number, {
      tracer: 'callTracer',
    })
    expect(traces.map(({ result }) => result)).toMatchObject(codes.map(([error]) => ({ error })))
    for (const [reason, data] of codes)
      await expect(ask('eth_call', { from: ACCOUNTS[0], data }, 'latest')).rejects.toThrow(reason)
  }))
