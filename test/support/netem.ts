import { spawnSync } from 'node:child_process'

/*
 * The kernel's own bad network: a network namespace whose loopback is late and loses packets (tc netem, of Linux). Everything that is to
 * talk over it runs inside, since nothing else reaches in.
 */

interface Netem {
  readonly delayMs: number
  readonly jitterMs: number
  readonly lossPercent: number
}

const NAMESPACE = ['unshare', '--user', '--map-root-user', '--net'] as const

const setUp = ({ delayMs, jitterMs, lossPercent }: Netem): string =>
  `ip link set lo up && tc qdisc add dev lo root netem delay ${delayMs}ms ${jitterMs}ms loss ${lossPercent}%`

/** The command line that runs a program over such a network. */
export const overNetem = (network: Netem, command: readonly string[]): readonly [string, ...string[]] => {
  const [program, ...options] = NAMESPACE
  return [program, ...options, 'sh', '-c', `${setUp(network)} && exec "$@"`, 'sh', ...command]
}

/** Reason why netem cannot be used; undefined when it can. */
export const whyNoNetem = (): string | undefined => {
  const [program, ...args] = overNetem({ delayMs: 1, jitterMs: 0, lossPercent: 0 }, ['true'])
  const { status, error, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (status === 0) return undefined
  return `no network namespace with tc netem here: ${error?.message ?? stderr.trim().split('\n').at(-1)}`
}
