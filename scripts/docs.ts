import { writeFileSync } from 'node:fs'
import { renderCommandDocs } from '../src/cli/command-docs.ts'
import { renderProtocolDocs } from '../src/network/protocol-docs.ts'
import { renderRpcDocs } from '../src/rpc/docs/rpc-docs.ts'

for (const [name, text] of [
  ['commands.md', renderCommandDocs()],
  ['rpc.md', renderRpcDocs()],
  ['network.md', renderProtocolDocs()],
] as const) {
  writeFileSync(new URL(`../docs/${name}`, import.meta.url), text)
  console.log(`docs/${name}`)
}
