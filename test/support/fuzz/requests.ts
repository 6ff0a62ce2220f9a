import type { Random } from '@tandem/base/random.ts'
import type { LiveValues } from './live-values.ts'
import type { TransactionMaker } from './transactions.ts'
import { type Schema, ValueMaker } from './values.ts'

/** A method as `rpc.discover` tells it. */
export interface MethodShape {
  readonly name: string
  readonly params: readonly { readonly name: string; readonly schema: Schema; readonly required: boolean }[]
  readonly result: { readonly schema: Schema }
}

/** One request of what is sent. */
export interface Call {
  /** As JSON; null for one without a readable id, undefined for a notification. */
  readonly id: string | undefined
  readonly method: string
  readonly params: unknown
}

/** Text sent as one message. */
export interface Outgoing {
  readonly text: string
  readonly calls: readonly Call[]
  /** True for a malformed text, whose answer is not predicted. */
  readonly isGarbage: boolean
  /** False for notifications, which get no answer. */
  readonly isAnswered: boolean
}

/**
 * Methods that are not mixed with others, each for its reason; all other methods of the table are. Methods that turn the chain back or stop
 * it would have the other requests' answers be about another chain.
 */
export const LEFT_OUT: readonly { readonly names: RegExp; readonly reason: string }[] = [
  {
    names: /^(evm|anvil)_revert$|^(hardhat|anvil)_reset$|^(hardhat|anvil)_(loadState|rollback|reorg)$/,
    reason: 'turns the chain back',
  },
  { names: /^(evm|hardhat|anvil)_set(IntervalMining|Automine)$/, reason: 'stops blocks, which the run waits for' },
  { names: /^(evm|hardhat|anvil)_\w*Time/, reason: 'moves the clock, by which others judge blocks' },
  { names: /^(evm|hardhat|anvil)_mine/, reason: 'makes as many blocks as it is told to' },
  { names: /^anvil_dropAllTransactions$/, reason: 'several times a block, so that hardly any transaction is mined' },
  { names: /^(evm|hardhat|anvil)_set\w*(Gas|Fee)/, reason: 'changes what every later transaction has to offer' },
  {
    names: /^(hardhat|anvil)_set(Balance|Code|Nonce|StorageAt)$/,
    reason: 'changes the accounts that the run sends from',
  },
]

const OPEN_SUBSCRIPTIONS = 6

/** Fields of the typed data that is asked to be signed; the last names a type that does not exist. */
const PAYMENT_FIELDS = [
  [{ name: 'to', type: 'address' }],
  [
    { name: 'to', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
  [{ name: 'to', type: 'Account' }],
] as const

interface RequestMakerOptions {
  readonly methods: readonly MethodShape[]
  readonly live: LiveValues
  readonly transactions: TransactionMaker
  readonly random: Random
}

/** Requests by chance from one seed: right ones, nearly right ones, and nonsense. */
export class RequestMaker {
  readonly #methods: readonly MethodShape[]
  readonly #live: LiveValues
  readonly #transactions: TransactionMaker
  readonly #random: Random
  readonly #values: ValueMaker
  #id = 0

  constructor({ methods, live, transactions, random }: RequestMakerOptions) {
    this.#methods = methods.filter(({ name }) => !LEFT_OUT.some(({ names }) => names.test(name)))
    this.#live = live
    this.#transactions = transactions
    this.#random = random
    this.#values = new ValueMaker(live, random)
  }

  /** At most `limit` calls. */
  next(limit: number): Outgoing {
    const random = this.#random
    if (this.#live.subscriptions.length > OPEN_SUBSCRIPTIONS) return this.#unsubscribe()
    if (random.chance(0.04)) return this.#garbage()
    if (random.chance(0.12)) return this.#batch(Math.min(limit, 1 + random.below(random.chance(0.1) ? 100 : 12)))
    const { text, call } = this.#request()
    return { text, calls: [call], isAnswered: call.id !== undefined, isGarbage: false }
  }

  #batch(size: number): Outgoing {
    const requests = Array.from({ length: Math.max(1, size) }, () => this.#request())
    const lead = this.#random.chance(0.1) ? ' \n\t' : ''
    return {
      text: `${lead}[${requests.map(({ text }) => text).join(',')}]`,
      calls: requests.map(({ call }) => call),
      isAnswered: requests.some(({ call }) => call.id !== undefined),
      isGarbage: false,
    }
  }

  #unsubscribe(): Outgoing {
    const [oldest] = this.#live.subscriptions
    const call = { id: String(++this.#id), method: 'eth_unsubscribe', params: [oldest] }
    return { text: textOf(call), calls: [call], isAnswered: true, isGarbage: false }
  }

  #request(): { readonly text: string; readonly call: Call } {
    const random = this.#random
    const shape = random.pick(this.#methods)
    const method = random.chance(0.03) ? this.#values.mangled(shape.name) : shape.name
    const params = random.chance(0.03) ? this.#values.any(3) : this.#params(shape)
    const id = random.chance(0.05) ? undefined : random.chance(0.5) ? `${++this.#id}` : `"r${++this.#id}"`
    const call = { id, method, params }
    return { text: random.chance(0.02) ? textWithDuplicates(call) : textOf(call), call }
  }

  #params({ name, params }: MethodShape): unknown[] {
    const random = this.#random
    if (/_sendRawTransaction(Sync)?$/.test(name) && random.chance(0.9)) return [this.#transactions.next()]
    // Slow, and of any hashes too few are of transactions.
    const { transactions } = this.#live
    if (/_traceTransaction$/.test(name) && transactions.items.length > 0 && random.chance(0.3))
      return [random.pick(transactions.items)]
    if (/_(call|sendTransaction)$/.test(name) && random.chance(0.3))
      return params.filter(({ required }) => required).map((_, i) => (i === 0 ? this.#transfer() : 'latest'))
    if (/_signTransaction$/.test(name) && random.chance(0.3)) return [{ ...this.#transfer(), nonce: '0x0' }]
    if (/_signTypedData/.test(name) && random.chance(0.5)) return [random.pick(this.#live.addresses), this.#typedData()]
    const given: unknown[] = []
    for (const { name: argument, schema, required } of params) {
      if (!required && random.chance(0.5)) break
      const value = this.#values.fitting(schema, argument)
      given.push(random.chance(0.9) ? value : random.chance(0.5) ? this.#values.nearMiss(value) : this.#values.any(3))
    }
    if (random.chance(0.05)) given.pop()
    if (random.chance(0.03)) given.push(this.#values.any(2))
    return given
  }

  /** A call of the token that can be signed and sent: by chance hardly any set of fields can. */
  #transfer(): object {
    const { addresses, callData } = this.#live
    const [token, ...accounts] = addresses
    const [from, data] = [this.#random.pick(accounts), this.#random.pick(callData)]
    return { from, to: token, data, gas: '0x186a0', gasPrice: '0x9502f9000' }
  }

  /** EIP-712 data that can be signed: by chance hardly any value is. */
  #typedData(): object {
    const { addresses, head } = this.#live
    return {
      types: { Payment: [...this.#random.pick(PAYMENT_FIELDS)] },
      primaryType: 'Payment',
      domain: { name: 'fuzz' },
      message: { to: this.#random.pick(addresses), amount: head },
    }
  }

  /** A text with something cut off or put in, or no request at all. */
  #garbage(): Outgoing {
    const random = this.#random
    const { text } = this.#request()
    const broken = random.chance(0.5)
      ? text.slice(0, 1 + random.below(text.length - 1))
      : random.chance(0.5)
        ? this.#values.mangled(text)
        : JSON.stringify(this.#values.any(4))
    return { text: broken, calls: [], isAnswered: !isNotification(broken), isGarbage: true }
  }
}

const textOf = ({ id, method, params }: Call): string =>
  `{"jsonrpc":"2.0",${id === undefined ? '' : `"id":${id},`}"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`

/** Of members with one name the last counts. */
const textWithDuplicates = (call: Call): string =>
  `{${call.id === undefined ? '' : '"id":"other",'}"method":"eth_nothing","params":{},${textOf(call).slice(1)}`

/** Broken texts may still be requests. */
const isNotification = (text: string): boolean => {
  try {
    const { method, id } = Object(JSON.parse(text)) as { method?: unknown; id?: unknown }
    return typeof method === 'string' && id === undefined
  } catch {
    return false
  }
}
