import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { RPC_LIMITS } from '../../../src/config/limits/clients.ts'
import type { Call, MethodShape, Outgoing } from './requests.ts'

/** docs/interface.md#errors, JSON-RPC 2.0, and what geth answers for reverts and for answers that are too large. */
const CODES: ReadonlySet<number> = new Set([-32700, -32600, -32601, -32602, -32000, -32003, 3])
/** eth_simulateV1 alone has codes of its own (execution-apis), one for each rule that a block or a call of it can break. */
/** Codes of EIP-7966, for those methods alone. */
const isSyncCode = (code: number): boolean => code === 4 || code === 5
const isSimulationCode = (code: number): boolean => code === -32_016 || (code <= -38_000 && code > -39_000)
const SHAPES: ReadonlySet<string> = new Set(['id,jsonrpc,result', 'error,id,jsonrpc'])
/** Message of an unexpected failure. */
const CRASHES = /^(method handler crashed|internal error)$/
const MAX_FAULTS = 20

interface Answer {
  readonly jsonrpc: string
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: unknown }
}

/** A large body that nests too deep, which one item of a batch is enough for, is not looked into any further. */
const isRefusedWhole = ({ text }: Outgoing, [answer, ...more]: readonly Answer[]): boolean =>
  text.length > RPC_LIMITS.unscannedBytes && more.length === 0 && answer?.error?.message === 'request too complex'

export type OnAnswer = (call: Call, answer: Answer) => void

/** Counts answers and says in what the node did not keep to its own word: envelope, ids, codes, schemas. */
export class Verdict {
  readonly faults: string[] = []
  /** Requests that wanted an answer and never got one. */
  unanswered = 0
  readonly errors = new Map<number, number>()
  /** Of every method of the table: answers that were results. */
  readonly results = new Map<string, number>()
  readonly #schemas = new Map<string, MethodShape['result']['schema']>()
  readonly #checks = new Map<string, ValidateFunction>()
  readonly #ajv = new Ajv2020({ strict: false })

  constructor(methods: readonly MethodShape[]) {
    for (const { name, result } of methods) {
      this.results.set(name, 0)
      this.#schemas.set(name, result.schema)
    }
  }

  fault(what: string): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push(what.slice(0, 600))
  }

  /** Holds what came against what was sent. */
  compare(request: Outgoing, text: string, onAnswer: OnAnswer = () => undefined): void {
    const parsed = text === '' ? [] : (JSON.parse(text) as Answer | Answer[])
    const answers = Array.isArray(parsed) ? parsed : [parsed]
    for (const answer of answers) this.#envelope(answer)
    if (request.isGarbage || isRefusedWhole(request, answers)) return
    const wanted = request.calls.filter(({ id }) => id !== undefined)
    if (answers.length !== wanted.length)
      this.fault(`${wanted.length} asked, ${answers.length} answered: ${request.text}`)
    // Answers of a batch come in its order.
    for (const [i, answer] of answers.entries()) {
      const call = wanted[i]
      if (call === undefined || JSON.stringify(answer.id) !== call.id) {
        this.fault(`${call?.id} answered as ${JSON.stringify(answer.id)}`)
        continue
      }
      if (answer.error === undefined) this.#result(call, answer.result)
      else if ('result' in answer) this.fault(`both: ${JSON.stringify(answer)}`)
      else if (isSimulationCode(answer.error.code) && !call.method.endsWith('_simulateV1'))
        this.fault(`${call.method} answered with the code of a simulation: ${JSON.stringify(answer)}`)
      else if (isSyncCode(answer.error.code) && !call.method.endsWith('_sendRawTransactionSync'))
        this.fault(`${call.method} answered with the code of a wait for a receipt: ${JSON.stringify(answer)}`)
      onAnswer(call, answer)
    }
  }

  #envelope(answer: Answer): void {
    const members = Object.keys(answer).sort().join()
    if (answer.jsonrpc !== '2.0' || !SHAPES.has(members)) this.fault(`no answer: ${JSON.stringify(answer)}`)
    const { error } = answer
    if (error === undefined) return
    this.errors.set(error.code, (this.errors.get(error.code) ?? 0) + 1)
    if (!CODES.has(error.code) && !isSimulationCode(error.code) && !isSyncCode(error.code))
      this.fault(`code ${error.code}: ${JSON.stringify(answer)}`)
    if (typeof error.message !== 'string' || error.message === '') this.fault(`no message: ${JSON.stringify(answer)}`)
    else if (CRASHES.test(error.message)) this.fault(`crashed: ${JSON.stringify(answer)}`)
  }

  #result(call: Call, result: unknown): void {
    const schema = this.#schemas.get(call.method)
    if (schema === undefined) {
      this.fault(`${call.method} is not in the table and has a result`)
      return
    }
    this.results.set(call.method, (this.results.get(call.method) ?? 0) + 1)
    let check = this.#checks.get(call.method)
    if (check === undefined) {
      check = this.#ajv.compile(schema)
      this.#checks.set(call.method, check)
    }
    if (!check(result))
      this.fault(
        `${call.method} ${JSON.stringify(call.params).slice(0, 150)}: ${JSON.stringify(check.errors?.slice(0, 2))}: ${JSON.stringify(result)}`,
      )
  }
}
