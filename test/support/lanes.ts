import WebSocket from 'ws'
import type { Outgoing } from './random-requests.ts'

/** What came back over one connection. */
export interface Answers {
  results: number
  readonly errors: Map<number, number>
  /** In which the node did not keep to the protocol. */
  readonly faults: string[]
}

export interface Lane {
  /** Resolves when everything asked for was answered. */
  send(request: Outgoing, answers: Answers): Promise<void>
  close(): void
}

interface Answer {
  readonly jsonrpc: string
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: unknown }
}

const WAIT_MS = 30_000
const END = '{"jsonrpc":"2.0","id":"end","method":"eth_chainId"}'

/** Counts an answer and says what is wrong with its form. */
const take = (answer: Answer, answers: Answers): void => {
  const members = Object.keys(answer).sort().join()
  if (answer.jsonrpc !== '2.0' || (members !== 'id,jsonrpc,result' && members !== 'error,id,jsonrpc'))
    answers.faults.push(`no answer: ${JSON.stringify(answer).slice(0, 200)}`)
  const { error } = answer
  if (error === undefined) answers.results++
  else if (typeof error.message !== 'string') answers.faults.push(`no message: ${JSON.stringify(answer)}`)
  else answers.errors.set(error.code, (answers.errors.get(error.code) ?? 0) + 1)
}

/** Holds the ids that came against those that had to come. */
const compare = (request: Outgoing, text: string, answers: Answers): void => {
  const parsed = text === '' ? [] : (JSON.parse(text) as Answer | Answer[])
  const list = Array.isArray(parsed) ? parsed : [parsed]
  for (const answer of list) take(answer, answers)
  if (request.isGarbage) return
  const came = list.map(({ id }) => JSON.stringify(id)).sort()
  const wanted = [...request.ids].map(id => id ?? 'null').sort()
  if (came.join() !== wanted.join())
    answers.faults.push(`asked ${wanted.join()}, answered ${came.join()}: ${request.text.slice(0, 300)}`)
}

export class HttpLane implements Lane {
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  async send(request: Outgoing, answers: Answers): Promise<void> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: request.text,
      signal: AbortSignal.timeout(WAIT_MS),
    })
    const text = await response.text()
    if (response.status === 200) compare(request, text, answers)
    else answers.faults.push(`${response.status} ${text}: ${request.text.slice(0, 300)}`)
  }

  close(): void {}
}

/** One request at a time: what comes before the next one is sent is its answer. */
export class SocketLane implements Lane {
  readonly #raw: WebSocket
  #frames: string[] = []
  #arrived: () => void = () => {}
  #isOpen = true
  #closeCode = 0
  readonly #openedMs = performance.now()

  private constructor(raw: WebSocket) {
    this.#raw = raw
    raw.on('message', data => {
      this.#frames.push(String(data))
      this.#arrived()
    })
    raw.on('close', code => {
      this.#isOpen = false
      this.#closeCode = code
      this.#arrived()
    })
  }

  static open(url: string): Promise<SocketLane> {
    const raw = new WebSocket(url)
    return new Promise((resolve, reject) => {
      raw.once('open', () => resolve(new SocketLane(raw)))
      raw.once('error', reject)
    })
  }

  async send(request: Outgoing, answers: Answers): Promise<void> {
    this.#raw.send(request.text)
    // What is answered by nothing is followed by something that is not.
    if (!request.isAnswered) this.#raw.send(END)
    let isLate = false
    const deadline = setTimeout(() => {
      isLate = true
      this.#raw.terminate()
    }, WAIT_MS)
    while (this.#frames.length === 0 && this.#isOpen) {
      await new Promise<void>(resolve => {
        this.#arrived = resolve
      })
    }
    clearTimeout(deadline)
    const [text, ...more] = this.#frames.splice(0)
    if (text === undefined) {
      const age = Math.round(performance.now() - this.#openedMs)
      const why = isLate ? `within ${WAIT_MS} ms` : `closed with ${this.#closeCode}`
      answers.faults.push(`no answer, ${why}, ${age} ms after it was opened: ${request.text.slice(0, 300)}`)
    } else if (more.length > 0) answers.faults.push(`${more.length} answers more: ${request.text.slice(0, 300)}`)
    else if (request.isAnswered) compare(request, text, answers)
    else if (!text.includes('"id":"end"')) answers.faults.push(`answered: ${request.text.slice(0, 300)}`)
  }

  close(): void {
    this.#raw.close()
  }
}
