import { LOCALNET_LIMITS } from '../../../config/limits/commands.ts'
import { eventText, type LocalnetEvent } from './events.ts'
import { type NodeStatus, statusLine, statusTable } from './status.ts'

/** Output of a localnet. */
export interface Reporter {
  /** Prints the first output. */
  ready(text: string): void
  tell(event: LocalnetEvent): void
  /** Called several times a second; each reporter filters it. */
  status(nodes: readonly NodeStatus[]): void
}

interface Output {
  write(text: string): unknown
  readonly columns?: number | undefined
}

/** Prints one object per line. */
export const jsonReporter = (output: Output, nowMs: () => number): Reporter => {
  const line = (value: object): void => void output.write(`${JSON.stringify(value)}\n`)
  return {
    ready: text => void output.write(`${text}\n`),
    tell: line,
    status: everySoOften(nowMs, nodes => line({ event: 'status', nodes })),
  }
}

/** Prints plain lines, for logs and pipes. */
export const plainReporter = (output: Output, nowMs: () => number): Reporter => {
  const say = (text: string): void => void output.write(`${text}\n`)
  return {
    ready: say,
    tell: event => eventText(event) !== undefined && say(eventText(event) as string),
    status: everySoOften(nowMs, nodes => say(statusLine(nodes))),
  }
}

/** Prints a table at the bottom that is redrawn in place; events are printed above it and stay. */
export const terminalReporter = (output: Output): Reporter => {
  let table: readonly string[] = []
  let drawn = 0
  const draw = (above: string): void => {
    if (above === '' && table.length === 0 && drawn === 0) return
    // Moves to the first line of the table and clears everything from there on.
    const back = drawn === 0 ? '' : `\x1b[${drawn}A\x1b[J`
    drawn = table.length
    output.write(`${back}${above}${table.map(line => `${line}\n`).join('')}`)
  }
  return {
    ready: text => draw(`${text}\n`),
    tell: event => {
      const sentence = eventText(event)
      // The last status is no longer valid.
      if (event.event === 'stopped') table = []
      draw(sentence === undefined ? '' : `${sentence}\n`)
    },
    status: nodes => {
      // A wrapped line would take two, and the cursor would not return to the first one.
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
    if (nowMs() - lastMs < LOCALNET_LIMITS.plainMs) return
    lastMs = nowMs()
    report(nodes)
  }
}
