import type { Hex } from '@tandem/base/bytes.ts'
import { hexToBytes } from '@tandem/base/bytes.ts'
import { createRandom, type Random } from '@tandem/base/random.ts'
import { expect, test } from 'vitest'
import { COUNCIL_ADDRESS } from '../../src/config/networks.ts'
import { addressFromPrivateKey } from '../../src/crypto/signature.ts'
import { jailedAtSlot, readCouncil } from '../../src/rules/council/council-storage.ts'
import { keyOf, signedRaw, type TestChain, withChain } from '../support/chain.ts'
import { ask, encodeCouncilCall, eventsOf, registrationSignature, STAKE } from '../support/council-contract.ts'
import { councilGenesis, validatorKey, validatorOf } from '../support/council-genesis.ts'
import { SEED } from '../support/seed.ts'

/** Random calls; `CONTRACT_CALLS=100000` for the long run. */
const CALLS = Number(process.env['CONTRACT_CALLS'] ?? 600)
const CALLS_OF_A_BLOCK = 6
const MEMBERS = 4
/** Owners: those of genesis and others; keys of validators: those of genesis and others. */
const OWNERS = Array.from({ length: 9 }, (_, index) => validatorKey(index))
const KEYS = [...OWNERS.slice(0, 6), keyOf(90), keyOf(91), keyOf(92)]
const VALIDATORS = KEYS.map(addressFromPrivateKey)

interface Stored {
  readonly owner: Hex
  readonly status: number
  readonly index: number
  readonly id: bigint
  readonly stake: bigint
}

interface Call {
  readonly key: Uint8Array
  readonly name: string
  readonly args: readonly unknown[]
  readonly value: bigint
}

const lower = (address: Hex): Hex => address.toLowerCase() as Hex
const registrationOf = (chain: TestChain, validator: Hex) => ask<Stored>(chain, 'registrationOf', validator)

/** Draws a call; a fifth of the signatures is of another owner, reward, key or registration. */
const drawCall = async (chain: TestChain, random: Random): Promise<Call> => {
  const key = random.pick(OWNERS)
  const at = random.below(KEYS.length)
  const validator = VALIDATORS[at] as Hex
  const call = (name: string, args: readonly unknown[] = [], value = 0n): Call => ({ key, name, args, value })
  const name = random.pick([
    'register',
    'register',
    'approve',
    'approve',
    'approve',
    'revoke',
    'admit',
    'exit',
    'withdraw',
    'collect',
    'setReward',
    'addStake',
  ])
  switch (name) {
    case 'register': {
      const reward = random.pick(VALIDATORS)
      const count = (await ask<bigint>(chain, 'registrationCount', validator)) + (random.chance(0.05) ? 1n : 0n)
      const signer = random.chance(0.05) ? random.pick(KEYS) : (KEYS[at] as Uint8Array)
      const owner = addressFromPrivateKey(random.chance(0.1) ? random.pick(OWNERS) : key)
      const signature = registrationSignature(signer, { chainId: chain.genesis.params.chainId, owner, reward, count })
      return call('register', ['Node', validator, reward, signature], STAKE - (random.chance(0.05) ? 1n : 0n))
    }
    case 'approve': {
      const { id } = await registrationOf(chain, validator)
      return call('approve', [validator, random.chance(0.1) ? id + 1n : id])
    }
    case 'exit':
      return call('requestExit', [validator])
    case 'collect':
    case 'setReward':
      return call(name, [random.pick(VALIDATORS)])
    case 'addStake':
      return call(name, [], BigInt(random.below(3)))
    default:
      return call(name, [validator])
  }
}

/** Approvals by their events, and registrations with the call that made each. */
class Model {
  readonly #approvals = new Map<bigint, Set<Hex>>()

  /** Checks the events of one call; `members`: those before it that have a vote. */
  follow({ key, name, args }: Call, events: ReturnType<typeof eventsOf>, members: Set<Hex>): void {
    for (const event of events as readonly Record<string, unknown>[]) {
      const validator = lower((event['validator'] ?? event['candidate'] ?? '0x') as Hex)
      const member = lower((event['member'] ?? '0x') as Hex)
      if (event['event'] === 'Registered') {
        expect(lower(event['owner'] as Hex)).toBe(addressFromPrivateKey(key))
        const [, , reward, signature] = args as [string, Hex, Hex, Hex]
        // The signature is that of the key for this owner and reward address.
        const signer = KEYS[VALIDATORS.indexOf(validator)] as Uint8Array
        const owner = addressFromPrivateKey(key)
        const count = this.counts(validator)
        expect(signature).toBe(registrationSignature(signer, { chainId: this.chainId, owner, reward, count }))
        this.#counts.set(validator, count + 1n)
      }
      if (event['event'] === 'Approved') {
        expect(members).toContain(member)
        const id = event['id'] as bigint
        this.#approvals.set(id, (this.#approvals.get(id) ?? new Set()).add(member))
        this.#ids.set(validator, id)
      }
      if (event['event'] === 'Revoked') this.#approvals.get(event['id'] as bigint)?.delete(member)
      if (event['event'] === 'Admitted') {
        const votes = this.#approvals.get(this.#ids.get(validator) ?? 0n) ?? new Set()
        const counting = [...votes].filter(voter => members.has(voter)).length
        expect(counting, `${name}`).toBeGreaterThan((2 * members.size) / 3)
        members.add(validator)
      }
      if (event['event'] === 'ExitRequested') {
        members.delete(validator)
        for (const votes of this.#approvals.values()) votes.delete(validator)
      }
    }
  }

  readonly #ids = new Map<Hex, bigint>()
  readonly #counts = new Map<Hex, bigint>()
  readonly chainId: number

  constructor(chainId: number) {
    this.chainId = chainId
  }

  counts(validator: Hex): bigint {
    return this.#counts.get(validator) ?? 0n
  }
}

/** Checks the invariants of the contract after a block. */
const checkState = async (chain: TestChain, voters: ReadonlySet<Hex>): Promise<void> => {
  const members = (await ask<readonly Hex[]>(chain, 'members')).map(lower)
  const read = readCouncil(slot => chain.world.head.storage(COUNCIL_ADDRESS, slot))
  expect(read?.map(({ validator }) => validator)).toEqual(members)
  expect(members.length).toBeGreaterThan(0)
  expect(new Set(read?.map(({ admission }) => admission)).size).toBe(members.length)
  expect(new Set(members)).toEqual(voters)
  let held = 0n
  for (const [at, validator] of VALIDATORS.entries()) {
    const { owner, status, index, stake } = await registrationOf(chain, validator)
    held += stake
    expect(status === 2).toBe(members[index] === validator && status !== 0)
    if (status !== 0) expect(lower(await ask(chain, 'validatorOf', owner)), `${at}`).toBe(validator)
    if (status !== 0) expect(stake).toBeGreaterThanOrEqual(STAKE)
  }
  for (const key of OWNERS) held += await ask<bigint>(chain, 'owed', addressFromPrivateKey(key))
  expect(chain.world.head.account(COUNCIL_ADDRESS)?.balance).toBe(held)
}

test(
  'random calls: nobody takes a key, every vote counts once, and every wei is of somebody',
  () =>
    withChain(
      async chain => {
        const random = createRandom(SEED * 47)
        const model = new Model(chain.genesis.params.chainId)
        const voters = new Set(Array.from({ length: MEMBERS }, (_, index) => validatorOf(index)))
        let succeeded = 0
        for (let made = 0; made < CALLS; made += CALLS_OF_A_BLOCK) {
          const calls: Call[] = []
          const hashes = new Map<Hex, Call>()
          for (let at = 0; at < CALLS_OF_A_BLOCK; at++) calls.push(await drawCall(chain, random))
          for (const call of calls) {
            const from = addressFromPrivateKey(call.key)
            const raw = signedRaw(call.key, {
              nonce: Number(chain.pool.service.nextNonce(from)),
              to: COUNCIL_ADDRESS,
              value: call.value,
              data: hexToBytes(encodeCouncilCall(call.name, call.args)),
              gasLimit: 3_000_000n,
            })
            hashes.set(await chain.pool.service.submit(raw), call)
          }
          const block = await chain.mine()
          const receipts = (await chain.blocks.receipts(block.header.number)) ?? []
          block.transactions.forEach(({ hash }, index) => {
            const receipt = receipts[index]
            if (receipt?.status === 1) succeeded++
            model.follow(hashes.get(hash) as Call, eventsOf(receipt?.logs ?? []), voters)
          })
          await checkState(chain, voters)
        }
        expect(succeeded).toBeGreaterThan(CALLS / 20)
        expect(chain.world.head.storage(COUNCIL_ADDRESS, jailedAtSlot(VALIDATORS[0] as Hex))).toMatch(/^0x0+$/)
        console.log(JSON.stringify({ calls: CALLS, succeeded, members: voters.size }))
      },
      { genesis: councilGenesis(MEMBERS, { council: { openRegistration: false, unbondingSeconds: 2 } }), mode: 'wasm' },
    ),
  60_000 + 100 * CALLS,
)
