import { writeFileSync } from 'node:fs'
import { renderDocs } from '../src/rpc/docs.ts'

const file = new URL('../docs/rpc.md', import.meta.url)
writeFileSync(file, renderDocs())
console.log('docs/rpc.md')
