import type { Command, Option } from 'commander'

/** Headings in the help of commands with many options, and the options below each, in this order. */
export const OPTION_GROUPS: Readonly<Record<string, readonly string[]>> = {
  'HTTP and WebSocket': [
    ...['host', 'port', 'operatorPort', 'httpApi', 'wsApi', 'disableMethods', 'coinbase', 'cors', 'allowHosts'],
    ...['rateLimit', 'wsPerClient', 'apiKeys', 'jwtSecret', 'trustProxy', 'proxyHeader', 'tlsCert', 'tlsKey'],
    'compression',
  ],
  'Peers and sync': [
    ...['p2pHost', 'p2pPort', 'advertise', 'peers', 'bootnodes', 'discovery', 'relays'],
    ...['sync', 'checkpoint', 'verify', 'snapshotInterval'],
  ],
  'Execution and state': ['execution', 'stateHistory', 'history', 'memory', 'allowUnprotectedTxs'],
  'Proof chain': ['mine', 'mineCoinbase', 'mineThreads', 'mineDuty', 'stratum'],
  'Explorer and faucet': [
    ...['explorer', 'explorerKeys', 'explorerLabels', 'explorerPrice', 'solcDir'],
    ...['faucet', 'faucetKey', 'faucetDailyGrants', 'faucetClientGrants'],
  ],
  Chaos: ['chaos', 'seed', 'chaosDown', 'untilBlock'],
  'Log and metrics': ['metrics', 'metricsPort', 'metricsHost', 'logLevel', 'json'],
}

/** Commands with at most this many options need no headings. */
const SHORT = 20

const HEADINGS: ReadonlyMap<string, string> = new Map(
  Object.entries(OPTION_GROUPS).flatMap(([heading, names]) => names.map(name => [name, `${heading}:`])),
)
const ORDER = [...HEADINGS.keys()]

/** Puts the options of a command below headings, if it has many; those without a heading come first. */
export const groupOptions = ({ options }: Command): void => {
  if (options.length <= SHORT) return
  for (const option of options) {
    const heading = HEADINGS.get(option.attributeName())
    if (heading !== undefined) option.helpGroup(heading)
  }
}

/** Sorts options below a heading as the list has them; options without a heading keep their order. */
export const sortOptions = (options: readonly Option[]): Option[] => {
  const place = (option: Option): number =>
    option.helpGroupHeading === undefined ? -1 : ORDER.indexOf(option.attributeName())
  return options.toSorted((a, b) => place(a) - place(b))
}
