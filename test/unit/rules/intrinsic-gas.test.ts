import { EMPTY_BYTES, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { evmForkAt, forksWith } from '../../../src/config/forks.ts'
import { NETWORKS } from '../../../src/config/networks.ts'
import {
  floorGas,
  type GasFields,
  intrinsicGas,
  intrinsicGasRules,
  minimumGas,
} from '../../../src/rules/intrinsic-gas.ts'

const call: GasFields = { to: ZERO_ADDRESS, data: EMPTY_BYTES, accessList: [] }
const bytes = (zeros: number, others: number) => new Uint8Array(zeros + others).fill(1, zeros)

describe('on our networks', () => {
  const rules = intrinsicGasRules(evmForkAt(NETWORKS.mainnet.forks, 1), NETWORKS.mainnet.calldataGasPerByte)

  test('a transfer costs 21,000', () => {
    expect(minimumGas(call, rules)).toBe(21_000n)
  })

  test('a byte of calldata costs 100, zero or not', () => {
    expect(minimumGas({ ...call, data: bytes(40, 28) }, rules)).toBe(21_000n + 6_800n)
  })

  test('a creation costs 32,000 more and two for each word of init code', () => {
    expect(minimumGas({ ...call, to: null, data: bytes(0, 33) }, rules)).toBe(53_000n + 3_300n + 4n)
  })

  test('an access list costs 2,400 an address and 1,900 a slot', () => {
    const accessList = [
      { address: ZERO_ADDRESS, storageKeys: [ZERO_HASH, ZERO_HASH] },
      { address: ZERO_ADDRESS, storageKeys: [] },
    ]
    expect(minimumGas({ ...call, accessList }, rules)).toBe(21_000n + 4_800n + 3_800n)
  })
})

describe('on forks with their own prices', () => {
  const data = bytes(3, 5)
  test.each([
    ['frontier', 21_000n + 12n + 340n],
    ['byzantium', 21_000n + 12n + 340n],
    ['istanbul', 21_000n + 12n + 80n],
    ['cancun', 21_000n + 12n + 80n],
  ] as const)('%s', (fork, want) => {
    expect(intrinsicGas({ ...call, data }, intrinsicGasRules(fork, null))).toBe(want)
  })

  test('a creation is dearer from Homestead on, init code from Shanghai on', () => {
    const creation = { ...call, to: null, data: bytes(0, 32) }
    const gas = (fork: 'frontier' | 'homestead' | 'paris' | 'shanghai') =>
      intrinsicGas(creation, intrinsicGasRules(fork, null))
    expect(gas('frontier')).toBe(21_000n + 32n * 68n)
    expect(gas('homestead') - gas('frontier')).toBe(32_000n)
    expect(gas('shanghai') - gas('paris')).toBe(2n)
  })
})

describe('Prague', () => {
  const prague = intrinsicGasRules('prague', null)

  test('each authorization costs 25,000 (EIP-7702)', () => {
    const authorization = { chainId: 0n, address: ZERO_ADDRESS, nonce: 0n, yParity: 0, r: EMPTY_BYTES, s: EMPTY_BYTES }
    expect(minimumGas({ ...call, authorizationList: [authorization, authorization] }, prague)).toBe(71_000n)
  })

  test('calldata has a floor of 10 a token (EIP-7623)', () => {
    const data = bytes(10, 10)
    expect(floorGas({ data }, prague)).toBe(21_000n + 10n * (10n + 40n))
    expect(minimumGas({ ...call, data }, prague)).toBe(21_500n)
    expect(floorGas({ data }, intrinsicGasRules('cancun', null))).toBe(0n)
  })

  test('a flat price needs no floor: it is above it for every byte', () => {
    const flat = intrinsicGasRules('prague', 100n)
    expect(floorGas({ data: bytes(10, 10) }, flat)).toBe(0n)
    expect(minimumGas({ ...call, data: bytes(10, 10) }, flat)).toBe(23_000n)
  })

  test('begins at its height', () => {
    const forks = forksWith(NETWORKS.devnet.forks, { prague: 10 })
    const at = (number: number) => intrinsicGasRules(evmForkAt(forks, number), null).floorTokenGas
    expect([at(9), at(10), at(11)]).toEqual([0, 10, 10])
  })
})
