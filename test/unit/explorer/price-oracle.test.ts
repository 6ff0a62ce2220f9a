import { readFileSync } from 'node:fs'
import { bytesToHex, concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { oracleRound } from '@tandem/explorer/price/oracle-price.ts'
import { expect, test, vi } from 'vitest'
import { keccak256 } from '../../../src/crypto/hash.ts'
import { createAddress } from '../../../src/primitives/receipt/address.ts'
import { ACCOUNTS, withChain } from '../../support/chain.ts'
import { localCall } from '../../support/explorer/source/local-calls.ts'
import { localChainOf, senderOn } from '../../support/explorer/token-chain.ts'
import { compileSolidity } from '../../support/solidity.ts'

vi.setConfig({ testTimeout: 120_000 })

const SOURCE = readFileSync(new URL('../../../contracts/PriceOracle.sol', import.meta.url), 'utf8')
const [ALICE, BOB, CAROL] = ACCOUNTS as readonly [Hex, Hex, Hex]
const words = (...values: readonly (bigint | number)[]): Uint8Array =>
  concatBytes(...values.map(value => hexToBytes(toWord(BigInt.asUintN(256, BigInt(value))))))
const call = (signature: string, ...values: readonly (bigint | number)[]): Uint8Array =>
  concatBytes(keccak256(Buffer.from(signature)).subarray(0, 4), words(...values))
/** Constructor arguments: description, greatest age, quorum, reporters. */
const creation = (age: number, quorum: number, reporters: readonly Hex[]): Uint8Array =>
  concatBytes(
    compileSolidity(SOURCE)['PriceOracle']?.bytecode as Uint8Array,
    words(128, age, quorum, 192, 3),
    Uint8Array.from({ length: 32 }, (_, at) => 'TDM'.charCodeAt(at) || 0),
    words(reporters.length, ...reporters.map(BigInt)),
  )

test('the middle of what enough reporters said is the price that the explorer reads', () =>
  withChain(async chain => {
    const [alice, bob, carol] = [senderOn(chain, 0), senderOn(chain, 1), senderOn(chain, 2)]
    const oracle = createAddress(ALICE, 0)
    await alice.submit({ to: null, data: creation(1_000, 2, [ALICE, BOB]) })
    await chain.mine()
    const source = localChainOf(chain)
    const ask = localCall(source)
    const node = {
      rpc: async (request: string) => {
        const [{ to, data }] = (JSON.parse(request) as { params: [{ to: Hex; data: Hex }] }).params
        const output = await ask(to, hexToBytes(data))
        return JSON.stringify({ jsonrpc: '2.0', id: 1, result: output ? bytesToHex(output) : undefined })
      },
    }
    const report = async (sender: typeof alice, price: number): Promise<number> => {
      await sender.submit({ to: oracle, data: call('report(int256)', price), gasLimit: 500_000n })
      await chain.mine()
      return (await chain.blocks.receipts(chain.chain.headBlock.header.number))?.[0]?.status ?? 0
    }
    expect(await oracleRound(node, oracle)).toBeUndefined()
    expect(await report(alice, 200_000_000)).toBe(1)
    // One price is not enough.
    expect(await oracleRound(node, oracle)).toBeUndefined()
    expect(await report(bob, 100_000_000)).toBe(1)
    const { timestamp } = chain.chain.headBlock.header
    expect(await oracleRound(node, oracle)).toEqual({ roundId: 1, price: 1.5, updatedAt: timestamp })
    for (const price of [0, -1]) expect(await report(alice, price)).toBe(0)
    expect(await report(carol, 900_000_000)).toBe(0)
    await alice.submit({
      to: oracle,
      data: call('setReporters(address[])', 32, 3, BigInt(ALICE), BigInt(BOB), BigInt(CAROL)),
    })
    await chain.mine()
    expect(await report(carol, 900_000_000)).toBe(1)
    expect((await oracleRound(node, oracle))?.roundId).toBe(1)
    await report(bob, 300_000_000)
    await report(alice, 100_000_000)
    expect(await oracleRound(node, oracle)).toMatchObject({ roundId: 3, price: 3 })
    // Alone after the others' prices have grown old.
    chain.clock.ms += 1_001_000
    await report(carol, 500_000_000)
    expect((await oracleRound(node, oracle))?.roundId).toBe(3)
  }))
