import { encodeFunctionData, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { COUNCIL_ADDRESS } from '../../../src/config/networks.ts'
import { addressFromPrivateKey } from '../../../src/crypto/signature.ts'
import { createAddress } from '../../../src/primitives/address.ts'
import { readCouncil } from '../../../src/rules/council/council-storage.ts'
import { type Hex, hexToBytes, toWord, ZERO_ADDRESS } from '../../../src/util/bytes.ts'
import { ACCOUNT_KEYS, ACCOUNTS, keyOf, signedRaw, type TestChain, withChain } from '../../support/chain.ts'
import { ask, councilTransaction, encodeCouncilCall, refusal, STAKE, transact } from '../../support/council-contract.ts'
import { councilGenesis, rewardOf, validatorKey, validatorOf } from '../../support/council-genesis.ts'
import { compileSolidity } from '../../support/solidity.ts'

const [ALICE_KEY, BOB_KEY] = ACCOUNT_KEYS as [Uint8Array, Uint8Array]
const [ALICE, BOB] = ACCOUNTS as [Hex, Hex]
const NODE: Hex = addressFromPrivateKey(keyOf(90))
const OTHER: Hex = addressFromPrivateKey(keyOf(91))
const MEMBER = 2

const voted = councilGenesis(4, { council: { openRegistration: false, unbondingSeconds: 1_000 } })
const open = councilGenesis(1, { council: { openRegistration: true, unbondingSeconds: 1_000 } })

const membersByContract = (chain: TestChain) => ask<readonly Hex[]>(chain, 'members').then(all => all.map(lower))
const lower = (address: Hex): Hex => address.toLowerCase() as Hex
const stored = (chain: TestChain) => readCouncil(slot => chain.world.head.storage(COUNCIL_ADDRESS, slot))
const balance = (chain: TestChain, address: Hex) => chain.world.head.account(address)?.balance ?? 0n
const registerArgs = (name = 'Node', validator = NODE, reward = BOB) => [name, validator, reward] as const

/** The stakes are what the contract holds, and what nodes read is what it answers. */
const checkBooks = async (chain: TestChain, candidates: readonly Hex[] = []) => {
  const members = await membersByContract(chain)
  expect(stored(chain)?.map(({ validator }) => validator)).toEqual(members)
  let staked = 0n
  for (const validator of [...members, ...candidates])
    staked += (await ask<{ stake: bigint }>(chain, 'registrationOf', validator)).stake
  expect(balance(chain, COUNCIL_ADDRESS)).toBe(staked)
}

describe('genesis', () => {
  test('holds the contract, its members in the documented slots, and their stakes as its balance', () =>
    withChain(
      async chain => {
        const owner = validatorOf(2)
        expect(stored(chain)?.[2]).toEqual({
          name: 'Validator 2',
          validator: owner,
          owner,
          reward: rewardOf(2),
          admission: 3,
          stakeWei: 3n * STAKE,
        })
        expect(balance(chain, COUNCIL_ADDRESS)).toBe(10n * STAKE)
        expect(await ask(chain, 'registrationOf', owner)).toMatchObject({ status: MEMBER, index: 2, stake: 3n * STAKE })
        expect(await ask(chain, 'minStake')).toBe(STAKE)
        expect(await ask(chain, 'unbondingSeconds')).toBe(1_000n)
        expect(await ask(chain, 'openRegistration')).toBe(false)
        expect(lower(await ask(chain, 'validatorOf', owner))).toBe(owner)
        expect(await ask(chain, 'approvalsNeeded')).toBe(3n)
        await checkBooks(chain)
        const { totalSupply } = (await chain.economy.supply(0)) ?? {}
        const accounts = [COUNCIL_ADDRESS, ...chain.genesis.alloc.keys()]
        expect(accounts.reduce((sum, address) => sum + balance(chain, address), 0n)).toBe(totalSupply)
      },
      { genesis: voted },
    ))
})

describe('registration', () => {
  test('makes a candidate that more than two thirds of the members must approve, one vote each', () =>
    withChain(
      async chain => {
        expect(await transact(chain, ALICE_KEY, 'register', registerArgs(), STAKE)).toMatchObject({
          status: 1,
          events: [{ event: 'Registered', name: 'Node', stake: STAKE }],
        })
        expect(await membersByContract(chain)).not.toContain(NODE)
        for (const voter of [0, 1]) {
          const { status, events } = await transact(chain, validatorKey(voter), 'approve', [NODE])
          expect([status, events.map(({ event }) => event)]).toEqual([1, ['Approved']])
          expect(await refusal(chain, { from: validatorOf(voter) }, 'approve', NODE)).toBe('AlreadyApproved')
        }
        expect(await refusal(chain, { from: ALICE }, 'approve', NODE)).toBe('NotMember')
        expect(await refusal(chain, { from: ALICE }, 'admit', NODE)).toBe('NotEnoughApprovals')
        await checkBooks(chain, [NODE])
        const third = await transact(chain, validatorKey(2), 'approve', [NODE])
        expect(third.events.map(({ event }) => event)).toEqual(['Approved', 'Admitted'])
        expect(await membersByContract(chain)).toContain(NODE)
        expect(await refusal(chain, { from: validatorOf(3) }, 'approve', NODE)).toBe('NotCandidate')
        await checkBooks(chain)
      },
      { genesis: voted },
    ))

  test('is a seat at once where it is open', () =>
    withChain(
      async chain => {
        const { events } = await transact(chain, ALICE_KEY, 'register', registerArgs(), STAKE)
        expect(events.map(({ event }) => event)).toEqual(['Registered', 'Admitted'])
        expect(stored(chain)?.[1]).toEqual({
          name: 'Node',
          validator: NODE,
          owner: ALICE,
          reward: BOB,
          admission: 2,
          stakeWei: STAKE,
        })
        await checkBooks(chain)
      },
      { genesis: open },
    ))

  test('refuses bad names, addresses and stakes, and a second registration of a key or an owner', () =>
    withChain(
      async chain => {
        const register = (value: bigint, ...args: ReturnType<typeof registerArgs>) =>
          refusal(chain, { from: ALICE, value }, 'register', ...args)
        expect(await register(STAKE, ...registerArgs(''))).toBe('NameLength')
        expect(await register(STAKE, ...registerArgs('n'.repeat(33)))).toBe('NameLength')
        // Bytes count, not letters.
        expect(await register(STAKE, ...registerArgs('ä'.repeat(17)))).toBe('NameLength')
        expect(await register(STAKE, ...registerArgs('ä'.repeat(16)))).toBeUndefined()
        expect(await register(STAKE, ...registerArgs('Node', ZERO_ADDRESS))).toBe('ZeroAddress')
        expect(await register(STAKE, ...registerArgs('Node', NODE, ZERO_ADDRESS))).toBe('ZeroAddress')
        expect(await register(STAKE - 1n, ...registerArgs())).toBe('StakeTooSmall')
        expect(await register(STAKE, ...registerArgs('Node', validatorOf(0)))).toBe('ValidatorTaken')
        await transact(chain, ALICE_KEY, 'register', registerArgs(), STAKE)
        expect(await register(STAKE, ...registerArgs('Node', OTHER))).toBe('OwnerTaken')
        expect(await refusal(chain, { from: BOB, value: STAKE }, 'register', ...registerArgs())).toBe('ValidatorTaken')
        // Nothing but the functions takes money.
        const plain = signedRaw(BOB_KEY, { to: COUNCIL_ADDRESS, value: 1n, gasLimit: 100_000n })
        await chain.pool.service.submit(plain)
        const { header } = await chain.mine()
        expect((await chain.blocks.receipts(header.number))?.[0]?.status).toBe(0)
      },
      { genesis: voted },
    ))

  test('of a key by a stranger can be ended by that key', () =>
    withChain(
      async chain => {
        const node = validatorKey(8)
        const args = registerArgs('Squatter', addressFromPrivateKey(node))
        await transact(chain, ALICE_KEY, 'register', args, STAKE)
        expect(await refusal(chain, { from: BOB }, 'requestExit', addressFromPrivateKey(node))).toBe('NotRegistered')
        expect((await transact(chain, node, 'requestExit', [addressFromPrivateKey(node)])).status).toBe(1)
        // A validator that never served can withdraw without an unbonding time.
        const before = balance(chain, ALICE)
        expect((await transact(chain, BOB_KEY, 'withdraw', [addressFromPrivateKey(node)])).status).toBe(1)
        expect(balance(chain, ALICE) - before).toBe(STAKE)
        const again = await transact(chain, node, 'register', registerArgs('Own', addressFromPrivateKey(node)), STAKE)
        expect(again.status).toBe(1)
      },
      { genesis: voted },
    ))
})

describe('admissions', () => {
  const admissions = (chain: TestChain) =>
    Object.fromEntries((stored(chain) ?? []).map(({ validator, admission }) => [validator, admission]))
  const registerBy = (chain: TestChain, key: Uint8Array, validator: Hex) =>
    transact(chain, key, 'register', registerArgs('Node', validator), STAKE)

  test('are counted: no key changes the number, none is given twice, and a member that leaves changes no other number', () =>
    withChain(
      async chain => {
        await registerBy(chain, ALICE_KEY, NODE)
        await registerBy(chain, BOB_KEY, OTHER)
        expect(admissions(chain)).toEqual({ [validatorOf(0)]: 1, [NODE]: 2, [OTHER]: 3 })
        await transact(chain, ALICE_KEY, 'requestExit', [NODE])
        expect(admissions(chain)).toEqual({ [validatorOf(0)]: 1, [OTHER]: 3 })
        chain.clock.ms += 1_000_000
        await transact(chain, ALICE_KEY, 'withdraw', [NODE])
        await registerBy(chain, ALICE_KEY, NODE)
        expect(admissions(chain)).toEqual({ [validatorOf(0)]: 1, [OTHER]: 3, [NODE]: 4 })
      },
      { genesis: open },
    ))

  test('cost votes: registrations that come and go use up no number', () =>
    withChain(
      async chain => {
        for (let tries = 0; tries < 3; tries++) {
          await registerBy(chain, ALICE_KEY, NODE)
          await transact(chain, ALICE_KEY, 'requestExit', [NODE])
          await transact(chain, ALICE_KEY, 'withdraw', [NODE])
        }
        await registerBy(chain, BOB_KEY, OTHER)
        for (const voter of [0, 1, 2]) await transact(chain, validatorKey(voter), 'approve', [OTHER])
        expect(admissions(chain)).toMatchObject({ [validatorOf(3)]: 4, [OTHER]: 5 })
      },
      { genesis: voted },
    ))
})

describe('votes', () => {
  test('of members that left do not count, nor for a later registration of the same key', () =>
    withChain(
      async chain => {
        await transact(chain, ALICE_KEY, 'register', registerArgs(), STAKE)
        await transact(chain, validatorKey(0), 'approve', [NODE])
        await transact(chain, validatorKey(1), 'approve', [NODE])
        expect(await ask(chain, 'approvals', NODE)).toBe(2n)
        await transact(chain, validatorKey(0), 'requestExit', [validatorOf(0)])
        expect(await ask(chain, 'approvals', NODE)).toBe(1n)
        expect(await refusal(chain, { from: validatorOf(0) }, 'approve', NODE)).toBe('NotMember')
        await transact(chain, ALICE_KEY, 'requestExit', [NODE])
        await transact(chain, ALICE_KEY, 'withdraw', [NODE])
        await transact(chain, ALICE_KEY, 'register', registerArgs(), STAKE)
        expect(await ask(chain, 'approvals', NODE)).toBe(0n)
      },
      { genesis: voted },
    ))

  test('may suffice when others leave; then any account can have the candidate admitted', () =>
    withChain(
      async chain => {
        await transact(chain, ALICE_KEY, 'register', registerArgs(), STAKE)
        await transact(chain, validatorKey(0), 'approve', [NODE])
        await transact(chain, validatorKey(1), 'approve', [NODE])
        await transact(chain, validatorKey(2), 'requestExit', [validatorOf(2)])
        expect(await refusal(chain, { from: BOB }, 'admit', NODE)).toBe('NotEnoughApprovals')
        await transact(chain, validatorKey(3), 'requestExit', [validatorOf(3)])
        expect((await transact(chain, BOB_KEY, 'admit', [NODE])).events).toMatchObject([{ event: 'Admitted' }])
        expect(await membersByContract(chain)).toEqual([validatorOf(0), validatorOf(1), NODE])
        await checkBooks(chain, [validatorOf(2), validatorOf(3)])
      },
      { genesis: voted },
    ))
})

describe('exit', () => {
  test('frees the seat at once and the stake after the unbonding time, once', () =>
    withChain(
      async chain => {
        const [key, member] = [validatorKey(1), validatorOf(1)]
        expect(await refusal(chain, { from: member }, 'withdraw', member)).toBe('NotLeaving')
        expect((await transact(chain, key, 'requestExit', [member])).events).toMatchObject([{ event: 'ExitRequested' }])
        // The last of the list takes the place.
        expect(await membersByContract(chain)).toEqual([validatorOf(0), validatorOf(3), validatorOf(2)])
        await checkBooks(chain, [member])
        expect(await refusal(chain, { from: member }, 'requestExit', member)).toBe('AlreadyLeaving')
        expect(await refusal(chain, { from: member, value: 1n }, 'addStake')).toBe('AlreadyLeaving')
        expect(await refusal(chain, { from: member }, 'withdraw', member)).toBe('TooEarly')
        chain.clock.ms += 998_000
        expect(await refusal(chain, { from: member }, 'withdraw', member)).toBe('TooEarly')
        chain.clock.ms += 2_000
        const before = balance(chain, member)
        expect((await transact(chain, BOB_KEY, 'withdraw', [member])).events).toMatchObject([
          { event: 'Withdrawn', amount: 2n * STAKE },
        ])
        expect(balance(chain, member) - before).toBe(2n * STAKE)
        expect(await refusal(chain, { from: BOB }, 'withdraw', member)).toBe('NotLeaving')
        await checkBooks(chain)
      },
      { genesis: voted },
    ))

  test('never leaves an empty council', () =>
    withChain(
      async chain => {
        const owner = validatorOf(0)
        expect(await refusal(chain, { from: owner }, 'requestExit', owner)).toBe('LastMember')
        expect((await transact(chain, validatorKey(0), 'requestExit', [owner])).status).toBe(0)
        expect(stored(chain)).toHaveLength(1)
      },
      { genesis: open },
    ))

  test('stake can be added to, by the owner alone', () =>
    withChain(
      async chain => {
        expect(await refusal(chain, { from: ALICE, value: 1n }, 'addStake')).toBe('NotRegistered')
        expect(await refusal(chain, { from: validatorOf(0) }, 'addStake')).toBe('NothingSent')
        expect((await transact(chain, validatorKey(0), 'addStake', [], 7n)).events).toMatchObject([
          { event: 'StakeAdded', amount: 7n, stake: STAKE + 7n },
        ])
        expect(stored(chain)?.[0]?.stakeWei).toBe(STAKE + 7n)
        await checkBooks(chain)
      },
      { genesis: open },
    ))
})

const OWNER_ABI = parseAbi(['function act(bytes data, uint256 value) payable', 'function plan(bytes data)'])
const act = (data: Hex, value: bigint): Uint8Array =>
  hexToBytes(encodeFunctionData({ abi: OWNER_ABI, functionName: 'act', args: [data, value] }))
const plan = (data: Hex): Uint8Array =>
  hexToBytes(encodeFunctionData({ abi: OWNER_ABI, functionName: 'plan', args: [data] }))

/** An owner that, when it is paid, tries to be paid again and to register anew. */
const OWNER = `
  // SPDX-License-Identifier: Apache-2.0
  pragma solidity ^0.8.20;
  contract Owner {
    address constant COUNCIL = 0x0000000000000000000000000000000000000400;
    bytes public again;
    bool public wasPaidTwice;
    function act(bytes calldata data, uint256 value) external payable {
      (bool done, ) = COUNCIL.call{value: value}(data);
      require(done, "refused");
    }
    function plan(bytes calldata data) external { again = data; }
    receive() external payable {
      (bool done, ) = COUNCIL.call(again);
      if (done) wasPaidTwice = true;
    }
  }`

test('an owner that calls back while it is paid gets nothing twice', () =>
  withChain(
    async chain => {
      const { Owner } = compileSolidity(OWNER)
      const owner = createAddress(ALICE, 0)
      const send = async (data: Uint8Array, to: Hex | null, value = 0n) => {
        const nonce = Number(chain.pool.service.nextNonce(ALICE))
        await chain.pool.service.submit(signedRaw(ALICE_KEY, { nonce, to, value, data, gasLimit: 5_000_000n }))
        const { header } = await chain.mine()
        const receipt = (await chain.blocks.receipts(header.number))?.[0]
        expect(receipt?.status).toBe(1)
      }
      await send(Owner?.bytecode ?? new Uint8Array(), null, 0n)
      await send(act(encodeCouncilCall('register', registerArgs()), STAKE), owner, STAKE)
      await send(act(encodeCouncilCall('requestExit', [NODE]), 0n), owner)
      await send(plan(encodeCouncilCall('withdraw', [NODE])), owner)
      chain.clock.ms += 1_001_000
      expect((await transact(chain, BOB_KEY, 'withdraw', [NODE])).status).toBe(1)
      expect(balance(chain, owner)).toBe(STAKE)
      expect(BigInt(chain.world.head.storage(owner, toWord(1n)))).toBe(0n)
      await checkBooks(chain)
    },
    { genesis: open },
  ))

test('what many do in one block comes out as if they had taken turns', () =>
  withChain(
    async chain => {
      for (const [index, key] of ACCOUNT_KEYS.entries())
        await chain.pool.service.submit(
          councilTransaction(
            chain,
            key,
            'register',
            registerArgs(`n${index}`, addressFromPrivateKey(keyOf(60 + index))),
            STAKE,
          ),
        )
      await chain.pool.service.submit(councilTransaction(chain, validatorKey(1), 'requestExit', [validatorOf(1)]))
      const block = await chain.mine()
      expect(block.transactions).toHaveLength(5)
      expect(stored(chain)).toHaveLength(5)
      await checkBooks(chain, [validatorOf(1)])
    },
    { genesis: councilGenesis(2, { council: { openRegistration: true } }) },
  ))
