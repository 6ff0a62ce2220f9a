import { type Hex, hexToBytes, toWord, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { encodeFunctionData, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { COUNCIL_ADDRESS } from '../../../src/config/networks.ts'
import { addressFromPrivateKey } from '../../../src/crypto/signature.ts'
import { createAddress } from '../../../src/primitives/receipt/address.ts'
import { readCouncil } from '../../../src/rules/council/council-storage.ts'
import { ACCOUNT_KEYS, ACCOUNTS, keyOf, signedRaw, type TestChain, withChain } from '../../support/chain.ts'
import {
  ask,
  councilTransaction,
  encodeCouncilCall,
  refusal,
  registrationSignature,
  STAKE,
  transact,
} from '../../support/council-contract.ts'
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
  for (const owner of await Promise.all(ACCOUNTS.map(who => ask<bigint>(chain, 'owed', who)))) staked += owner
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

  test('needs the signature of the key for this owner and reward, of this chain, and each serves once', () =>
    withChain(
      async chain => {
        const { chainId } = chain.genesis.params
        const key = keyOf(90)
        const signed = (change: Partial<Parameters<typeof registrationSignature>[1]> = {}) =>
          registrationSignature(key, { chainId, owner: ALICE, reward: BOB, ...change })
        const attempt = (from: Hex, reward: Hex, signature: Hex) =>
          refusal(chain, { from, value: STAKE }, 'register', 'Node', NODE, reward, signature)
        // Another account that saw the transaction, or another reward address.
        expect(await attempt(BOB, BOB, signed())).toBe('SignatureInvalid')
        expect(await attempt(ALICE, ALICE, signed())).toBe('SignatureInvalid')
        for (const wrong of [
          signed({ chainId: chainId + 1 }),
          signed({ count: 1n }),
          registrationSignature(keyOf(91), { chainId, owner: ALICE, reward: BOB }),
          '0x' as Hex,
          signed().slice(0, -2) as Hex,
          `${signed()}00` as Hex,
          `0x${'00'.repeat(65)}` as Hex,
          withHighS(signed()),
        ])
          expect(await attempt(ALICE, BOB, wrong)).toBe('SignatureInvalid')
        const [first, again] = [signed(), signed({ count: 1n })]
        expect((await transact(chain, ALICE_KEY, 'register', ['Node', NODE, BOB, first], STAKE)).status).toBe(1)
        await transact(chain, ALICE_KEY, 'requestExit', [NODE])
        await transact(chain, ALICE_KEY, 'withdraw', [NODE])
        // The owner of before cannot take the key again that has signed for another one since.
        expect(await attempt(ALICE, BOB, first)).toBe('SignatureInvalid')
        expect(await attempt(ALICE, BOB, again)).toBeUndefined()
      },
      { genesis: voted },
    ))

  test('can be ended by the key itself', () =>
    withChain(
      async chain => {
        const node = validatorKey(8)
        const validator = addressFromPrivateKey(node)
        await transact(chain, ALICE_KEY, 'register', registerArgs('Node', validator), STAKE)
        expect(await refusal(chain, { from: BOB }, 'requestExit', validator)).toBe('NotRegistered')
        expect((await transact(chain, node, 'requestExit', [validator])).status).toBe(1)
        // A validator that never served can withdraw without an unbonding time.
        expect((await transact(chain, BOB_KEY, 'withdraw', [validator])).status).toBe(1)
        expect(await ask(chain, 'owed', ALICE)).toBe(STAKE)
        const again = await transact(chain, node, 'register', registerArgs('Own', validator), STAKE)
        expect(again.status).toBe(1)
      },
      { genesis: voted },
    ))

  test('pays another address when its owner says so', () =>
    withChain(
      async chain => {
        await transact(chain, ALICE_KEY, 'register', registerArgs(), STAKE)
        expect(await refusal(chain, { from: BOB }, 'setReward', BOB)).toBe('NotRegistered')
        expect(await refusal(chain, { from: NODE }, 'setReward', NODE)).toBe('NotRegistered')
        expect(await refusal(chain, { from: ALICE }, 'setReward', ZERO_ADDRESS)).toBe('ZeroAddress')
        expect((await transact(chain, ALICE_KEY, 'setReward', [OTHER])).events).toMatchObject([
          { event: 'RewardChanged' },
        ])
        expect(stored(chain)?.find(({ validator }) => validator === NODE)?.reward).toBe(OTHER)
        await transact(chain, ALICE_KEY, 'requestExit', [NODE])
        expect(await refusal(chain, { from: ALICE }, 'setReward', BOB)).toBe('AlreadyLeaving')
      },
      { genesis: open },
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

  test('bind the registration that the voter saw, can be taken back, and lapse when the voter is jailed or leaves', () =>
    withChain(
      async chain => {
        const idOf = async () => (await ask<{ id: bigint }>(chain, 'registrationOf', NODE)).id
        await transact(chain, ALICE_KEY, 'register', registerArgs(), STAKE)
        const seen = await idOf()
        await transact(chain, ALICE_KEY, 'requestExit', [NODE])
        await transact(chain, ALICE_KEY, 'withdraw', [NODE])
        await transact(chain, BOB_KEY, 'register', registerArgs('Node', NODE, ALICE), STAKE)
        expect(await refusal(chain, { from: validatorOf(0) }, 'approve', NODE, seen)).toBe('AnotherRegistration')
        const id = await idOf()
        expect(id).toBeGreaterThan(seen)
        expect(await refusal(chain, { from: validatorOf(0) }, 'revoke', NODE)).toBe('NotApproved')
        await transact(chain, validatorKey(0), 'approve', [NODE, id])
        await transact(chain, validatorKey(1), 'approve', [NODE, id])
        expect((await transact(chain, validatorKey(0), 'revoke', [NODE])).events).toMatchObject([
          { event: 'Revoked', id },
        ])
        expect(await ask(chain, 'approvals', NODE)).toBe(1n)
        expect(await refusal(chain, { from: ALICE }, 'revoke', NODE)).toBe('NotMember')
        await transact(chain, validatorKey(0), 'approve', [NODE, id])
        await transact(chain, validatorKey(1), 'requestExit', [validatorOf(1)])
        expect(await ask(chain, 'approvals', NODE)).toBe(1n)
        expect(await refusal(chain, { from: validatorOf(1) }, 'revoke', NODE)).toBe('NotMember')
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
        expect((await transact(chain, BOB_KEY, 'withdraw', [member])).events).toMatchObject([
          { event: 'Withdrawn', amount: 2n * STAKE },
        ])
        expect(await refusal(chain, { from: BOB }, 'withdraw', member)).toBe('NotLeaving')
        expect(await refusal(chain, { from: BOB }, 'collect', BOB)).toBe('NothingOwed')
        expect(await refusal(chain, { from: member }, 'collect', ZERO_ADDRESS)).toBe('ZeroAddress')
        const before = balance(chain, OTHER)
        expect((await transact(chain, key, 'collect', [OTHER])).events).toMatchObject([
          { event: 'Collected', amount: 2n * STAKE },
        ])
        expect(balance(chain, OTHER) - before).toBe(2n * STAKE)
        expect(await refusal(chain, { from: member }, 'collect', OTHER)).toBe('NothingOwed')
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

/** An owner that, when it is paid, tries to be paid again; or refuses to be paid. */
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
      require(again.length > 0, "no money");
      (bool done, ) = COUNCIL.call(again);
      if (done) wasPaidTwice = true;
    }
  }`

/** Deploys the owner and has it register NODE and leave again. */
const withOwner = (
  use: (chain: TestChain, owner: Hex, send: (data: Uint8Array, value?: bigint) => Promise<void>) => Promise<void>,
) =>
  withChain(
    async chain => {
      const { Owner } = compileSolidity(OWNER)
      const owner = createAddress(ALICE, 0)
      const sendTo = async (to: Hex | null, data: Uint8Array, value = 0n) => {
        const nonce = Number(chain.pool.service.nextNonce(ALICE))
        await chain.pool.service.submit(signedRaw(ALICE_KEY, { nonce, to, value, data, gasLimit: 5_000_000n }))
        const { header } = await chain.mine()
        const receipt = (await chain.blocks.receipts(header.number))?.[0]
        expect(receipt?.status).toBe(1)
      }
      await sendTo(null, Owner?.bytecode ?? new Uint8Array())
      const { chainId } = chain.genesis.params
      const signature = registrationSignature(keyOf(90), { chainId, owner, reward: BOB })
      const send = (data: Uint8Array, value = 0n) => sendTo(owner, data, value)
      await send(act(encodeCouncilCall('register', [...registerArgs(), signature]), STAKE), STAKE)
      await send(act(encodeCouncilCall('requestExit', [NODE]), 0n))
      chain.clock.ms += 1_001_000
      await use(chain, owner, send)
      await checkBooks(chain)
    },
    { genesis: open },
  )

test('an owner that calls back while it is paid gets nothing twice', () =>
  withOwner(async (chain, owner, send) => {
    await send(plan(encodeCouncilCall('collect', [owner])))
    expect((await transact(chain, BOB_KEY, 'withdraw', [NODE])).status).toBe(1)
    await send(act(encodeCouncilCall('collect', [owner]), 0n))
    expect(balance(chain, owner)).toBe(STAKE)
    expect(BigInt(chain.world.head.storage(owner, toWord(1n)))).toBe(0n)
  }))

test('an owner that refuses money keeps no key, and can have it paid elsewhere', () =>
  withOwner(async (chain, owner, send) => {
    expect((await transact(chain, BOB_KEY, 'withdraw', [NODE])).status).toBe(1)
    expect(await refusal(chain, { from: owner }, 'collect', owner)).toBe('TransferFailed')
    expect((await transact(chain, BOB_KEY, 'register', registerArgs(), STAKE)).status).toBe(1)
    await send(act(encodeCouncilCall('collect', [OTHER]), 0n))
    expect(balance(chain, OTHER)).toBe(STAKE)
  }))

/** The other signature that recovers the same key. */
const withHighS = (signature: Hex): Hex => {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const high = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
  return `${signature.slice(0, 66)}${high}${signature.endsWith('1b') ? '1c' : '1b'}` as Hex
}

test('what many do in one block comes out as if they had taken turns', () =>
  withChain(
    async chain => {
      for (const [index, key] of ACCOUNT_KEYS.entries())
        await chain.pool.service.submit(
          await councilTransaction(
            chain,
            key,
            'register',
            registerArgs(`n${index}`, addressFromPrivateKey(keyOf(60 + index))),
            STAKE,
          ),
        )
      await chain.pool.service.submit(await councilTransaction(chain, validatorKey(1), 'requestExit', [validatorOf(1)]))
      const block = await chain.mine()
      expect(block.transactions).toHaveLength(5)
      expect(stored(chain)).toHaveLength(5)
      await checkBooks(chain, [validatorOf(1)])
    },
    { genesis: councilGenesis(2, { council: { openRegistration: true } }) },
  ))
