import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bigintToBytes, bytesToHex, concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, test } from 'vitest'
import { createInterpreter } from '../../../../../devtools/interpreter/engine.ts'
import type { EvmFork, Fork } from '../../../../../src/config/forks.ts'
import { EVM_FORKS } from '../../../../../src/config/forks.ts'
import { NETWORKS } from '../../../../../src/config/networks.ts'
import { keccak256 } from '../../../../../src/crypto/hash.ts'
import { sign } from '../../../../../src/crypto/signature.ts'
import type { BlockEnv } from '../../../../../src/evm/block-env.ts'
import type { Engine, EngineResult } from '../../../../../src/evm/engine.ts'
import { createExecutor } from '../../../../../src/evm/engines/executor.ts'
import { createAddress } from '../../../../../src/primitives/receipt/address.ts'
import { encodeRlp } from '../../../../../src/primitives/rlp/rlp.ts'
import type { Authorization, Transaction } from '../../../../../src/primitives/transaction/transaction.ts'
import { executionRules } from '../../../../../src/rules/execution-rules.ts'
import { Journal } from '../../../../../src/state/journal/journal.ts'
import { code, deployer, env, funded, GWEI, type Key, key, signed, TOKEN, withCode } from '../../world.ts'

const alice = key(1)
const bob = key(2)
const CONTRACT: Hex = `0x${'0b'.repeat(20)}`
/** Writes slot 0 = value sent, logs it. */
const WRITER = code(0x34, 0x5f, 0x55, 0x34, 0x5f, 0x5f, 0xa1, 0x00)

const directory = mkdtempSync(join(tmpdir(), 'shadow-'))
const shadow = (engine?: Engine) =>
  createExecutor({ mode: 'shadow', logger: silentLogger, reproductionDir: directory, ...(engine && { engine }) })

const real = createInterpreter()
/** The real engine with its answer or its state spoilt. */
const faulty = (spoil: (result: EngineResult, journal: Journal) => EngineResult): Engine => ({
  name: 'faulty',
  run: async (journal, blockEnv, message, options) =>
    spoil(await real.run(journal, blockEnv, message, options), journal),
})

const execute = (engine: Engine | undefined, list: readonly Transaction[], block: BlockEnv = env()) => {
  const journal = new Journal(withCode(funded([alice, bob]), CONTRACT, WRITER))
  return shadow(engine)
    .execute(journal, block, list)
    .then(execution => ({ execution, journal }))
}
const call = (): Transaction => signed(alice, { to: CONTRACT, value: 3n })

describe('shadow mode', () => {
  test('passes what agrees on to the journal', async () => {
    const { execution, journal } = await execute(undefined, [call()])
    expect(execution.receipts[0]).toMatchObject({ status: 1 })
    expect(journal.storage(CONTRACT, toWord(0n))).toBe(toWord(3n))
    expect(journal.balance(CONTRACT)).toBe(3n)
  })

  test.each<[string, string, (result: EngineResult, journal: Journal) => EngineResult]>([
    ['gas', 'receipts.0.cumulativeGasUsed: ', result => ({ ...result, gasUsed: result.gasUsed + 1n })],
    ['refund', 'receipts.0.cumulativeGasUsed: ', result => ({ ...result, refund: result.refund + 1n })],
    ['status', 'receipts.0.status: 0 against 1', result => ({ ...result, failure: { kind: 'revert' } })],
    ['a missing log', 'receipts.0.logsBloom', result => ({ ...result, logs: [] })],
    [
      'a wrong topic',
      'receipts.0.logsBloom',
      result => ({ ...result, logs: result.logs.map(log => ({ ...log, topics: [toWord(4n)] })) }),
    ],
    [
      'a slot',
      `storage.${CONTRACT}.`,
      (result, journal) => {
        journal.setStorage(CONTRACT, toWord(7n), toWord(1n))
        return result
      },
    ],
    [
      'a balance',
      `accounts.${bob.address}.nonce: 0 against undefined`,
      (result, journal) => {
        journal.addBalance(bob.address, 1n)
        return result
      },
    ],
    [
      'a nonce',
      `accounts.${CONTRACT}.nonce: `,
      (result, journal) => {
        journal.setNonce(CONTRACT, 2)
        return result
      },
    ],
    [
      'code',
      `accounts.${bob.address}.nonce: 0 against undefined`,
      (result, journal) => {
        journal.setCode(bob.address, WRITER)
        return result
      },
    ],
    [
      'a destroyed account',
      `accounts.${CONTRACT}.nonce: undefined against 1`,
      result => ({ ...result, destroyed: [CONTRACT] }),
    ],
  ])('catches a fault planted in %s', async (_, what, spoil) => {
    const error = await execute(faulty(spoil), [call()]).catch(e => e)
    expect(error.detail).toMatchObject({ code: 'SHADOW_MISMATCH', what: expect.stringContaining(what) })
    const report = JSON.parse(readFileSync(error.detail.file, 'utf8'))
    expect(report.transactions).toEqual([{ from: alice.address, raw: bytesToHex(call().raw) }])
    expect(report.alloc[CONTRACT].code).toBe(bytesToHex(WRITER))
    expect(report.env.number).toBe(1_000)
    expect(report.ours).not.toEqual(report.oracle)
  })

  test('a transaction both refuse is refused', async () => {
    await expect(execute(undefined, [call(), call()])).rejects.toMatchObject({
      detail: { code: 'INVALID_TRANSACTION', index: 1, reason: { code: 'NONCE_TOO_LOW' } },
    })
  })
})

/** A private chain's rules: every fork up to this one active, calldata at the fork's own price. */
const paramsOf = (last: EvmFork) => {
  const forks: Fork[] = EVM_FORKS.slice(1, EVM_FORKS.indexOf(last) + 1).map(name => ({ name, height: 0 }))
  return { ...NETWORKS.devnet, forks, calldataGasPerByte: null }
}

const authorization = (
  from: Key,
  address: Hex,
  nonce: bigint,
  chainId = BigInt(NETWORKS.devnet.chainId),
): Authorization => {
  const payload = encodeRlp([bigintToBytes(chainId), hexToBytes(address), bigintToBytes(nonce)])
  const signature = sign(keccak256(concatBytes(Uint8Array.of(5), payload)), from.secret)
  return {
    chainId,
    address,
    nonce,
    yParity: signature[64] as number,
    r: signature.subarray(0, 32),
    s: signature.subarray(32, 64),
  }
}

describe("forks other than the networks' own", () => {
  test.each(EVM_FORKS.slice(EVM_FORKS.indexOf('byzantium')))('%s agrees with the oracle', async fork => {
    const london = EVM_FORKS.indexOf(fork) >= EVM_FORKS.indexOf('london')
    const block = env({ params: paramsOf(fork), baseFeePerGas: london ? 25n * GWEI : 0n })
    const child = createAddress(alice.address, 1)
    const runtime = code(0x60, '01', 0x60, '00', 0x55, 0x60, '00', 0x60, '00', 0x55, 0x33, 0xff)
    const list = [
      signed(alice, { nonce: 0, to: CONTRACT, value: 3n, data: Uint8Array.of(0, 1, 0, 2) }),
      signed(alice, {
        nonce: 1,
        data: code(
          0x60,
          '00',
          0x60,
          '00',
          0x55,
          0x60,
          '0b',
          0x60,
          '0d',
          0x60,
          '00',
          0x39,
          0x60,
          '0b',
          0x60,
          '00',
          0xf3,
        ),
      }),
      signed(alice, { nonce: 2, to: child }),
      signed(alice, { nonce: 3, data: deployer(runtime) }),
      signed(alice, { nonce: 4, to: createAddress(alice.address, 3), value: 1n }),
      signed(alice, { nonce: 5, to: bob.address, value: 1n }),
      signed(alice, { nonce: 6, to: `0x${'77'.repeat(20)}`, data: new Uint8Array(40).fill(1) }),
    ]
    await execute(undefined, list, block)
  })

  test('the precompiles are those of EthereumJS in every fork', async () => {
    const { createCommon } = await import('../../../../../src/evm/engines/ethereumjs/common.ts')
    const { getActivePrecompiles } = await import('@ethereumjs/evm')
    for (const fork of EVM_FORKS) {
      const theirs = [...getActivePrecompiles(createCommon(NETWORKS.devnet, fork)).keys()].map(
        address => `0x${address}`,
      )
      const ours = { ...NETWORKS.devnet, precompilePrices: null }
      expect([...executionRules(fork, ours).precompiles].sort()).toEqual(theirs.sort())
    }
  })

  test('Prague: delegations set, replaced, cleared and refused (EIP-7702)', async () => {
    const params = paramsOf('prague')
    const carol = key(3)
    const unknown = key(4)
    const send = (nonce: number, authorizationList: readonly Authorization[], more = {}) =>
      signed(alice, { type: 4, nonce, to: carol.address, value: 1n, authorizationList, ...more })
    const list = [
      send(0, [authorization(carol, CONTRACT, 0n), authorization(unknown, CONTRACT, 0n, 0n)]),
      send(1, [
        authorization(carol, CONTRACT, 0n),
        authorization(carol, CONTRACT, 1n, 5n),
        authorization(bob, CONTRACT, 7n),
      ]),
      send(2, [authorization(alice, CONTRACT, 3n), authorization(carol, bob.address, 1n)]),
      send(3 + 1, [authorization(carol, `0x${'00'.repeat(20)}`, 2n)]),
      send(5, [{ ...authorization(carol, CONTRACT, 3n), s: new Uint8Array(32).fill(0xff) }], {
        data: new Uint8Array(300).fill(9),
      }),
      signed(bob, { nonce: 0, to: unknown.address, value: 2n }),
    ]
    const { execution, journal } = await execute(undefined, list, env({ params }))
    expect(execution.receipts.map(receipt => receipt.status)).toEqual([1, 1, 1, 1, 1, 1])
    expect(journal.code(carol.address).byteLength).toBe(0)
    expect(bytesToHex(journal.code(unknown.address))).toBe(`0xef0100${CONTRACT.slice(2)}`)
    expect(journal.storage(unknown.address, toWord(0n))).toBe(toWord(2n))
    // The delegated account may send (EIP-3607 does not hold it back).
    expect(journal.nonce(alice.address)).toBe(6)
    expect(journal.balance(bob.address)).toBeLessThan(1_000_000n * TOKEN)
  })

  test('Osaka: a transaction names at most 2^24 gas (EIP-7825)', async () => {
    const block = env({ params: { ...paramsOf('osaka'), maxTxExecutionGas: null } })
    const fits = signed(alice, { to: CONTRACT, gasLimit: 16_777_216n })
    await execute(undefined, [fits], block)
    await expect(
      execute(undefined, [signed(alice, { to: CONTRACT, gasLimit: 16_777_217n })], block),
    ).rejects.toMatchObject({
      detail: { code: 'INVALID_TRANSACTION' },
    })
  })
})
