import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { defined } from '@tandem/base/defined.ts'
import { LOCALNET_LIMITS } from '../../config/limits/commands.ts'
import { makeTempFolder, REMOVE_OPTIONS, removeDeadFolders } from '../../devnet/temp-folder.ts'
import { importDevtool } from '../shared/devtools.ts'
import { exitWithError } from '../shared/output.ts'
import { onEnd } from '../shared/process/parent-process.ts'
import { openLocalnet } from './folder.ts'
import { Localnet } from './network.ts'
import type { LocalnetFlags } from './plan.ts'
import { reservePorts } from './ports.ts'
import { readyJson, readyText } from './report/announce.ts'
import { eventText, type LocalnetEvent } from './report/events.ts'
import { type NodeStatus, statusLine, statusTable } from './report/status.ts'
import type { LocalnetSettings } from './settings.ts'

/** Faults of `--chaos`. */
export interface Chaos {
  readonly seed: number
  /** Runs faults until `signal`, or it is over, or the nodes do not recover. */
  readonly run: (ports: ChaosPorts) => Promise<void>
}

export interface ChaosPorts {
  readonly localnet: Localnet
  /** Blocks come at intervals, so that a new one shows that the committee decides again. */
  readonly isClocked: boolean
  readonly tell: (event: LocalnetEvent) => void
  /** Called when nodes did not recover in time. */
  readonly onTrouble: () => void
  /** Checked between two waves. */
  readonly isOver: () => boolean
  /** No new fault after it. */
  readonly signal: AbortSignal
}

/** Runs a network of processes until a signal, or until it fails to start. */
export const runLocalnet = async (flags: LocalnetFlags): Promise<void> => {
  const isTemporary = flags.datadir === undefined
  const dir = isTemporary ? makeTempFolder('localnet') : resolve(flags.datadir)
  try {
    await run(flags, dir, isTemporary)
  } finally {
    if (isTemporary) rmSync(dir, REMOVE_OPTIONS)
  }
}

const run = async (flags: LocalnetFlags, dir: string, isTemporary: boolean): Promise<void> => {
  const stopping = new AbortController()
  const trouble = new AbortController()
  const reporter = reporterOf(flags)
  const tell = reporter.tell
  const folder = await openLocalnet(dir, shapeOf(flags), flags.full)
  const chaos = await chaosOf(flags, folder.localnetSettings.validators)
  const ports = await reservePorts(flags.port, folder.nodes.length, flags.host)
  const onTrouble = () => {
    process.exitCode = 1
    trouble.abort()
  }
  const localnet = new Localnet({ folder, ports, flags, tell, onTrouble })
  const end = onSignals(() => {
    if (stopping.signal.aborted) return void localnet.kill()
    tell({ event: 'stopping' })
    stopping.abort()
    // Also while nodes are being started; the remaining ones then never are.
    void localnet.stop()
  })
  try {
    const either = AbortSignal.any([stopping.signal, trouble.signal])
    if (!(await localnet.start(either))) return
    if (isTemporary) removeDeadFolders().catch(() => undefined)
    const announced = { folder, nodes: localnet.nodes, dir, isTemporary, seed: chaos?.seed }
    reporter.ready(flags.json ? readyJson(announced) : readyText(announced))
    let isOver = false
    const isClocked = folder.localnetSettings.blockTime > 0
    // After a death or a fork no more faults follow, so that the state can be inspected.
    const struck = chaos?.run({ localnet, isClocked, tell, onTrouble, isOver: () => isOver, signal: either })
    // A test that has failed need not continue.
    const signal = flags.untilBlock === undefined ? stopping.signal : either
    const isReached = await watch(localnet, reporter, signal, flags.untilBlock)
    isOver = true
    await struck
    if (isReached && !(await localnet.agreeOn(flags.untilBlock as number))) onTrouble()
  } finally {
    tell({ event: 'stopped', killed: await localnet.stop() })
    end()
  }
}

/** Waits until `signal`, or no node is left, or all nodes have the block (only then it returns true). */
const watch = async (
  localnet: Localnet,
  reporter: Reporter,
  signal: AbortSignal,
  untilBlock = Number.POSITIVE_INFINITY,
): Promise<boolean> => {
  while (!signal.aborted) {
    const statuses = await localnet.look()
    reporter.status(statuses)
    if (statuses.every(({ state }) => state === 'dead')) return false
    if (statuses.every(({ number, state }) => state !== 'dead' && (number ?? 0) >= untilBlock)) return true
    await sleep(LOCALNET_LIMITS.pollMs, undefined, { signal }).catch(() => undefined)
  }
  return false
}

const reporterOf = ({ json }: LocalnetFlags): Reporter => {
  const nowMs = () => performance.now()
  if (json) return jsonReporter(process.stdout, nowMs)
  return process.stdout.isTTY ? terminalReporter(process.stdout) : plainReporter(process.stdout, nowMs)
}

const shapeOf = ({
  validators,
  blockTime,
  accounts,
  balance,
  mnemonic,
  chainId,
}: LocalnetFlags): Partial<LocalnetSettings> =>
  defined({ validators, blockTime, accounts, balanceWei: balance, mnemonic, chainId })

const chaosOf = async (flags: LocalnetFlags, validators: number): Promise<Chaos | undefined> => {
  if (!flags.chaos) return undefined
  type Devtool = { createChaos: (flags: LocalnetFlags, validators: number) => Chaos }
  const { createChaos } = await importDevtool<Devtool>('chaos/chaos.ts', '--chaos')
  return createChaos(flags, validators)
}

/** Runs `act` when the localnet is to end, until the returned function is called. */
const onSignals = (act: () => void): (() => void) => {
  // The reader of the output is gone, so the localnet could not be stopped by it any more: stop it.
  const onGone = (error: Error): void => {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') exitWithError(error)
    act()
  }
  process.stdout.on('error', onGone)
  const forget = onEnd(act)
  return () => {
    forget()
    process.stdout.off('error', onGone)
  }
}

interface Reporter {
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
