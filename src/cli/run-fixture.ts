import { rmSync } from 'node:fs'
import { parseGenesis } from '../config/genesis.ts'
import { LIMITS } from '../config/limits.ts'
import { startFixture } from '../node/fixture.ts'
import type { RunningNode } from '../node/options.ts'
import { version } from '../node/version.ts'
import { readBytes, readText } from './files.ts'
import type { FixtureFlags } from './fixture.ts'
import { namespacesOf } from './run-node.ts'
import { runProcess } from './run-process.ts'
import { makeTempFolder, REMOVE, removeDeadFolders } from './temp-folder.ts'

/** Executes and serves a recorded chain in a temporary folder. */
export const runFixture = async (flags: FixtureFlags): Promise<void> => {
  const genesis = parseGenesis(readText(flags.genesis, '--genesis'))
  const chain = readBytes(flags.chain, '--chain', LIMITS.fixture.chainBytes)
  const dataDir = makeTempFolder('fixture')
  await runProcess({
    logLevel: flags.logLevel,
    json: flags.json,
    start: deps =>
      startFixture(
        {
          genesis,
          chain,
          dataDir,
          execution: flags.execution,
          ...(flags.evm && { evm: flags.evm }),
          host: flags.host,
          port: flags.port,
          allowHosts: flags.allowHosts ?? ['localhost'],
          ...(flags.cors && { cors: flags.cors }),
          ...namespacesOf(flags.httpApi),
        },
        deps,
      ),
    announce: node => {
      removeDeadFolders().catch(() => undefined)
      if (flags.json) announceJson(node, genesis.params.chainId)
      else announceText(node, flags)
    },
    cleanUp: () => rmSync(dataDir, REMOVE),
  })
}

const announceJson = ({ urls, genesisHash }: RunningNode, chainId: number): void => {
  process.stdout.write(`${JSON.stringify({ ready: true, ...urls, chainId, genesisHash, accounts: [] })}\n`)
}

const announceText = ({ urls, genesisHash }: RunningNode, flags: FixtureFlags): void => {
  process.stdout.write(`
Tandem ${version} recorded chain

  HTTP        ${urls.http}
  WebSocket   ${urls.ws}
  Genesis     ${genesisHash}
  Namespaces  ${flags.httpApi.join(', ')}

Ctrl-C stops the node.

`)
}
