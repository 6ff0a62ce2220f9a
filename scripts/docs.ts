import { writeFileSync } from 'node:fs'
import { renderNetworkDocs } from '../src/network/protocol-docs.ts'
import { renderDocs } from '../src/rpc/docs/rpc-docs.ts'

for (const [name, text] of [
  ['rpc.md', renderDocs()],
  ['network.md', renderNetworkDocs()],
] as const) {
  writeFileSync(new URL(`../docs/${name}`, import.meta.url), text)
  console.log(`docs/${name}`)
}
