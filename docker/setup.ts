import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openLocalnet, type PreparedNode } from '../src/cli/localnet/folder.ts'
import { keyFileOf } from '../src/cli/localnet/plan.ts'
import { exitWithError } from '../src/cli/shared/output.ts'
import { peerUrl } from '../src/network/identity/peer-url.ts'

/*
 * `tandem setup.cjs DIR`, a program in the image alone: makes keys and genesis of the nodes of docker/compose.yaml, once, and a file of options
 * for each, DIR/NAME.toml. They find each other by their names, or as DIR/hosts.json says.
 */

const FULL_NODES = 2

interface NodeHost {
  readonly host: string
  readonly http: number
  readonly metrics: number
  readonly p2p: number
}

const setUp = async (dir: string): Promise<void> => {
  const { nodes, genesisFile, genesisHash } = await openLocalnet(dir, {}, FULL_NODES)
  const hostsFile = join(dir, 'hosts.json')
  const hosts = existsSync(hostsFile) ? (JSON.parse(readFileSync(hostsFile, 'utf8')) as Record<string, NodeHost>) : {}
  const hostOf = (node: PreparedNode): NodeHost =>
    hosts[node.name] ?? { host: node.name, http: 8545, metrics: 6060, p2p: 30_333 }

  for (const node of nodes) {
    const own = hostOf(node)
    // A container's own name is one of its addresses; without a file of hosts it listens at all of them.
    const listen = node.name in hosts ? '127.0.0.1' : '0.0.0.0'
    const options = {
      ...{ network: 'devnet', genesis: genesisFile, datadir: node.folder, json: true },
      ...(node.isValidator && { 'validator-key': keyFileOf(node) }),
      ...{ host: listen, port: own.http, 'operator-port': 'off' },
      ...{ 'metrics-host': listen, 'metrics-port': own.metrics },
      ...{ 'p2p-host': listen, 'p2p-port': own.p2p, discovery: false },
      peers: nodes
        .filter(other => other !== node)
        .map(other => peerUrl({ id: other.id, host: hostOf(other).host, port: hostOf(other).p2p })),
    }
    const lines = Object.entries(options).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
    writeFileSync(join(dir, `${node.name}.toml`), `[start]\n${lines.join('')}`)
  }
  process.stdout.write(`${JSON.stringify({ genesisHash, nodes: nodes.map(node => node.name) })}\n`)
}

const [, , , dir] = process.argv
if (dir === undefined) {
  process.stderr.write('usage: tandem setup.cjs DIR\n')
  process.exitCode = 2
} else setUp(dir).catch(exitWithError)
