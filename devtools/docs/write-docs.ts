import { writeFileSync } from 'node:fs'
import { renderCommandDocs } from './command-docs.ts'
import { renderProtocolDocs } from './protocol-docs.ts'
import { renderRpcDocs } from './rpc-docs.ts'

for (const [name, text] of [
  ['commands.md', renderCommandDocs()],
  ['rpc.md', renderRpcDocs()],
  ['network.md', renderProtocolDocs()],
] as const) {
  writeFileSync(new URL(`../../docs/${name}`, import.meta.url), text)
  console.log(`docs/${name}`)
}
