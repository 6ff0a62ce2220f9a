import { EMPTY_BYTES, type Hex, toWord } from '@tandem/base/bytes.ts'
import { delegationTarget } from '../../../primitives/transaction/delegation.ts'
import { REASON } from '../../failure-reasons.ts'
import { type OpcodeShape, opcodesOf, SHAPES } from '../../opcodes.ts'
import type { FrameType, Tracer } from '../../tracer.ts'
import { emptyStack, type KnownStack, MachineStep } from './machine-step.ts'
import { FAILURE, FRAME, LOG, OUTCOME, TRACE_REASONS } from './protocol.ts'
import type { RunState } from './run-state.ts'

/* Reports of a step machine in go-ethereum's form and order of checks. Costs are gas taken, or what would have been. */

const [EXP, PREVRANDAO, SSTORE, LOG0, CREATE, CALL_WITHOUT_VALUE, SELFDESTRUCT] = [
  0x0a, 0x44, 0x55, 0xa0, 0xf0, 0xfa, 0xff,
]
const CREATE2 = 0xf5
const WARM_READ = 100
/** A write with this much gas or less fails (EIP-2200). */
const SENTRY = 2_300n
/** More than any price that is not of memory beyond all bounds. */
const UNPAYABLE = 2 ** 59
/** Steps between two looks at the clock: one may show megabytes of memory, or all slots so far. After a wait the same step comes again. */
const STEPS_PER_LOOK = 2

interface StepFault {
  readonly cost: number
  readonly text: string
  /** The step itself shows it; other failures are seen at the end of the frame. */
  readonly isShown: boolean
}

/** EXP and LOG: go-ethereum prices them as a whole. */
const isPricedWhole = (op: number): boolean => op === EXP || (op >= LOG0 && op < LOG0 + 5)

const wordAddress = (word: bigint): Hex => `0x${toWord(word).slice(26)}`

/** Reports of one message to its tracer and to its recorder of accesses. */
export class StepRecorder {
  readonly #run: RunState
  readonly #tracer: Tracer
  readonly #step: MachineStep
  /** Fixed prices of the fork's opcodes. */
  readonly #prices: ReadonlyMap<number, number>
  /** Gas and stacks of the frames under way. */
  readonly #gas: number[] = []
  readonly #stacks: KnownStack[] = []
  #isPending = false
  #steps = 0
  /** Text of the failure that is about to end the frame. */
  #failure: string | undefined = undefined
  /** Promise to wait for before the opcode runs. */
  waiting: Promise<void> | undefined = undefined

  constructor(run: RunState) {
    this.#run = run
    this.#tracer = run.options.trace?.tracer ?? { result: () => [] }
    this.#step = new MachineStep(run.machine)
    this.#prices = new Map(opcodesOf(run.rules.fork).map(({ op, price }) => [op, price]))
  }

  /** Opcodes at which the machine stops. */
  get watches(): NonNullable<Tracer['watches']> {
    return this.#tracer.watches ?? (this.#run.options.accesses === undefined ? 'none' : 'named')
  }

  step(frame: number, op: number): boolean {
    const { machine, options } = this.#run
    const { backpressure } = options.trace ?? {}
    machine.refresh()
    const step = this.#step
    this.waiting = backpressure?.isFull ? backpressure.drained() : undefined
    if (this.waiting === undefined && ++this.#steps % STEPS_PER_LOOK === 0) this.waiting = this.#run.check()
    if (this.waiting !== undefined) return true
    // A stack is known from one step to the next only if all opcodes are seen.
    const known = this.watches === 'all' ? (this.#stacks.at(-1) as KnownStack) : emptyStack()
    step.begin(frame, op, this.#nameOf(op), known)
    if (this.#fits(op, step.stackSize)) {
      this.waiting = this.#loadNamed(op)
      if (this.waiting !== undefined) return true
      if (options.accesses !== undefined) this.#recordAccess(op)
    }
    this.#isPending = true
    this.#tracer.before?.(step)
    return false
  }

  stepped(gas: number, refund: number): void {
    this.#run.machine.refresh()
    this.#finishStep(Number(this.#step.gas) - gas, refund, undefined)
  }

  failed(frame: number, op: number, height: number, before: number, after: number, refund: number): void {
    this.#run.machine.refresh()
    const { cost, text, isShown } = this.#faultOf(frame, op, height, before, after)
    this.#failure = text
    this.#finishStep(cost, refund, isShown ? text : undefined)
  }

  entered(op: number, from: number, to: number, input: number, size: number, gas: number, value: number): void {
    const { machine } = this.#run
    machine.refresh()
    this.#tracer.enter?.({
      depth: this.#gas.length,
      type: SHAPES[op]?.name as FrameType,
      from: machine.addressOf(from),
      to: machine.addressOf(to),
      input: machine.bytes.subarray(input, input + size),
      gas: BigInt(gas),
      value: op === CALL_WITHOUT_VALUE ? undefined : machine.readWord(value),
    })
    this.#gas.push(gas)
    this.#stacks.push(emptyStack())
  }

  exited(result: number, left: number, data: number, size: number): void {
    const { machine } = this.#run
    machine.refresh()
    this.#stacks.pop()
    const gasUsed = BigInt((this.#gas.pop() ?? 0) - left)
    const error = this.#errorOf(result)
    this.#failure = undefined
    const output = machine.bytes.subarray(data, data + size)
    this.#tracer.exit?.({ depth: this.#gas.length, output, gasUsed, error })
  }

  logged(at: number): void {
    const { machine } = this.#run
    machine.refresh()
    const count = machine.view.getUint32(at + LOG.topics, true)
    const data = at + LOG.head + count * 32
    this.#tracer.log?.({
      address: machine.addressOf(machine.view.getUint32(at, true)),
      topics: Array.from({ length: count }, (_, i) => machine.readHex(at + LOG.head + i * 32, 32)),
      data: machine.bytes.subarray(data, data + machine.view.getUint32(at + LOG.size, true)),
    })
  }

  destructed(from: number, to: number, value: number): void {
    const { machine } = this.#run
    machine.refresh()
    const depth = this.#gas.length
    const addresses = { from: machine.addressOf(from), to: machine.addressOf(to) }
    const wei = machine.readWord(value)
    this.#tracer.enter?.({ depth, type: 'SELFDESTRUCT', ...addresses, value: wei, input: EMPTY_BYTES, gas: 0n })
    this.#tracer.exit?.({ depth, output: EMPTY_BYTES, gasUsed: 0n, error: undefined })
  }

  /** Called before a failed precompile ends its frame. */
  precompileFailed(reason: string): void {
    this.#failure = reason === REASON.outOfGas ? reason : 'precompiled failed'
  }

  #finishStep(cost: number, refund: number, error: string | undefined): void {
    if (!this.#isPending) return
    this.#isPending = false
    this.#tracer.step?.(this.#step.finish(BigInt(cost), refund, error))
  }

  #nameOf(op: number): string {
    return op === PREVRANDAO && !this.#run.since('paris') ? 'DIFFICULTY' : (SHAPES[op] as OpcodeShape).name
  }

  #fits(op: number, height: number): boolean {
    const { least, most } = SHAPES[op] as OpcodeShape
    return this.#prices.has(op) && height >= least && height <= most
  }

  #errorOf(result: number): string | undefined {
    if (result === OUTCOME.returned) return undefined
    if (result === OUTCOME.reverted) return REASON.revert
    return this.#failure ?? TRACE_REASONS[this.#run.machine.wasm.failReason()]
  }

  /** Part of the price that is known before the operands are read. */
  #constantGas(op: number): number {
    const { account, target } = SHAPES[op] as OpcodeShape
    const fixed = isPricedWhole(op) ? 0 : (this.#prices.get(op) ?? 0)
    const hasAccessPrice = (account ?? target) !== undefined && fixed === 0 && this.#run.since('berlin')
    return hasAccessPrice ? WARM_READ : fixed
  }

  #faultOf(frame: number, op: number, height: number, before: number, after: number): StepFault {
    const { least, most } = SHAPES[op] as OpcodeShape
    const constant = this.#constantGas(op)
    const shown = (cost: number, text: string): StepFault => ({ cost, text, isShown: true })
    const fixed = this.#prices.get(op)
    if (fixed !== undefined && height < least)
      return shown(constant, `${REASON.stackUnderflow} (${height} <=> ${least})`)
    if (fixed !== undefined && height > most) return shown(constant, `${REASON.stackOverflow} ${height} (${most})`)
    if (before < constant) return shown(constant, REASON.outOfGas)
    if (isPricedWhole(op) && before < (fixed as number))
      return shown(this.#wholePrice(frame, op, height, fixed as number), REASON.outOfGas)
    const reason = this.#run.machine.wasm.failReason()
    const cost = before - after
    if (reason === FAILURE['outOfGas']) return shown(cost > UNPAYABLE ? constant : cost, REASON.outOfGas)
    const text = TRACE_REASONS[reason] as string
    return { cost, text: reason === FAILURE['invalidOpcode'] ? `${text}: ${SHAPES[op]?.name}` : text, isShown: false }
  }

  /** Price of EXP or LOG where not even the fixed part can be paid. */
  #wholePrice(frame: number, op: number, height: number, fixed: number): number {
    const { machine } = this.#run
    const base = machine.view.getUint32(frame + FRAME.base, true)
    const word = (below: number): bigint => machine.readWord(base + (height - 1 - below) * 32)
    if (op === EXP) {
      const digits = word(1) === 0n ? 0 : word(1).toString(16).length
      return fixed + Math.ceil(digits / 2) * (this.#run.since('spuriousDragon') ? 50 : 10)
    }
    const [offset, size] = [word(0), word(1)]
    const end = size === 0n ? 0n : offset + size
    if (end > 2n ** 31n) return 0
    const cost = (bytes: number): number => {
      const words = Math.ceil(bytes / 32)
      return words * 3 + Math.floor((words * words) / 512)
    }
    const had = machine.view.getUint32(frame + FRAME.memorySize, true)
    return fixed + 8 * Number(size) + Math.max(0, cost(Number(end)) - cost(had))
  }

  /** Loads the state that the opcode names, where reads are asynchronous: a tracer may read it. */
  #loadNamed(op: number): Promise<void> | undefined {
    const { prefetch } = this.#run.options
    if (prefetch === undefined) return undefined
    const { slot, account, target } = SHAPES[op] as OpcodeShape
    if (slot !== undefined) return prefetch.slot(this.#step.address, toWord(this.#step.peek(slot)))
    const named = account ?? target
    if (named === undefined) return undefined
    const address = wordAddress(this.#step.peek(named))
    const loading = prefetch.code(address)
    if (loading !== undefined) return loading
    const delegate = delegationTarget(this.#run.journal.code(address))
    return delegate === undefined ? undefined : prefetch.code(delegate)
  }

  /** Records the accesses of an opcode (EIP-2929), also those that cannot be paid. */
  #recordAccess(op: number): void {
    const { options, journal } = this.#run
    const { accesses } = options
    if (accesses === undefined || !this.#run.since('berlin')) return
    const step = this.#step
    if (step.isStatic && (op === SSTORE || op === SELFDESTRUCT)) return
    const { slot, account, target } = SHAPES[op] as OpcodeShape
    if (op === CREATE || op === CREATE2) accesses.address(step.address)
    if (slot !== undefined && (op !== SSTORE || step.gas > SENTRY)) accesses.slot(step.address, toWord(step.peek(slot)))
    const named = account ?? target
    if (named === undefined) return
    const address = wordAddress(step.peek(named))
    accesses.address(address)
    const delegate =
      target !== undefined && this.#run.since('prague') ? delegationTarget(journal.code(address)) : undefined
    if (delegate !== undefined) accesses.address(delegate)
  }
}
