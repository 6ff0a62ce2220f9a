import { LIMITS } from '../../config/limits.ts'
import { eventText, type LocalnetEvent } from './events.ts'
import { type NodeStatus, statusLine, statusTable } from './status.ts'

/** Where a localnet tells what happens. */
export interface Reporter {
  /** What is read first. */
  ready(text: string): void
  tell(event: LocalnetEvent): void
  /** Comes several times a second; each reporter takes what it can use. */
  status(nodes: readonly NodeStatus[]): void
}

export interface Output {
  write(text: string): unknown
  readonly columns?: number | undefined
}

/** One object a line. */
export const jsonReporter = (output: Output, nowMs: () => number): Reporter => {
  const line = (value: object): void => void output.write(`${JSON.stringify(value)}\n`)
  return {
    ready: text => void output.write(`${text}\n`),
    tell: line,
    status: everySoOften(nowMs, nodes => line({ event: 'status', nodes })),
  }
}

/** For logs and pipes. */
export const plainReporter = (output: Output, nowMs: () => number): Reporter => {
  const say = (text: string): void => void output.write(`${text}\n`)
  return {
    ready: say,
    tell: event => eventText(event) !== undefined && say(eventText(event) as string),
    status: everySoOften(nowMs, nodes => say(statusLine(nodes))),
  }
}

/** A table at the bottom that is drawn again in its place; what is told goes above it and stays. */
export const terminalReporter = (output: Output): Reporter => {
  let table: readonly string[] = []
  let drawn = 0
  const draw = (above: string): void => {
    if (above === '' && table.length === 0 && drawn === 0) return
    // Up to the first line of the table, and everything from there on is cleared.
    const back = drawn === 0 ? '' : `\x1b[${drawn}A\x1b[J`
    drawn = table.length
    output.write(`${back}${above}${table.map(line => `${line}\n`).join('')}`)
  }
  return {
    ready: text => draw(`${text}\n`),
    tell: event => {
      const sentence = eventText(event)
      // What it showed last holds no more.
      if (event.event === 'stopped') table = []
      draw(sentence === undefined ? '' : `${sentence}\n`)
    },
    status: nodes => {
      // A line that wraps would be two, and the way back to the first one too short.
      table = statusTable(nodes, (output.columns || 80) - 1)
      draw('')
    },
  }
}

const everySoOften = (
  nowMs: () => number,
  report: (nodes: readonly NodeStatus[]) => void,
): ((nodes: readonly NodeStatus[]) => void) => {
  let lastMs = Number.NEGATIVE_INFINITY
  return nodes => {
    if (nowMs() - lastMs < LIMITS.localnet.plainMs) return
    lastMs = nowMs()
    report(nodes)
  }
}
