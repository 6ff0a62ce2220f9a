#!/usr/bin/env node
/*
 * After the renames: one definition for what two floors declared alike, and gossipsub's words for what becomes of a message.
 *   node scripts/rename/joins.mjs [--root DIR]
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'

const require = createRequire(join(process.env.TYPESCRIPT_DIR ?? '.', 'package.json'))
const ts = require('typescript')
const args = process.argv.slice(2)
const ROOT = resolve(args.includes('--root') ? args[args.indexOf('--root') + 1] : process.cwd())
const read = p => readFileSync(join(ROOT, p), 'utf8')
const write = (p, t) => writeFileSync(join(ROOT, p), t)
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(p => /^(src|test|bench|scripts)\/.*\.ts$/.test(p) && !p.includes('/assembly/'))

/** [new name, file that will define it, its text there (null: it is there), what it replaces: file -> old name]. */
const JOINS = [
  {
    name: 'BlockCodec', into: 'src/primitives/block-codec.ts', from: [['src/consensus/ports.ts', 'BlockCodec'], ['src/network/ports.ts', 'BlockCodec']],
    text: `import type { AsyncCodec } from '../util/async/async-codec.ts'\nimport type { Block } from './block.ts'\n\n/** Bytes of whole blocks. Decoding recovers senders, hence off the main thread. Rejects with CodedError on malformed bytes. */\nexport type BlockCodec = AsyncCodec<Block>\n`,
    also: { 'src/util/async/async-codec.ts': `/** Both ways between values and bytes, where decoding is done elsewhere. */\nexport interface AsyncCodec<T> {\n  encode(value: T): Uint8Array\n  decode(bytes: Uint8Array): Promise<T>\n}\n` },
  },
  {
    name: 'PeerId', into: 'src/primitives/peer-id.ts', from: [['src/consensus/ports.ts', 'PeerId'], ['src/network/ports.ts', 'PeerId']],
    text: `/** Node id of a connected peer, 64 hex digits. */\nexport type PeerId = string\n`,
  },
  {
    name: 'ValidatorSigner', into: 'src/primitives/consensus/signer.ts', from: [['src/consensus/engine/types.ts', 'ConsensusSigner'], ['src/network/ports.ts', 'ValidatorSigner']],
    text: `import type { Hex } from '../../util/bytes.ts'\n\n/** Key of a validator. \`sign\` returns r, s and recovery id (65 bytes) over a 32-byte digest. */\nexport interface ValidatorSigner {\n  readonly address: Hex\n  sign(digest: Uint8Array): Uint8Array\n}\n`,
  },
  {
    name: 'MessageAcceptance', into: 'src/primitives/consensus/acceptance.ts', from: [['src/consensus/engine/message-validator.ts', 'MessageAcceptance'], ['src/network/ports.ts', 'MessageJudgement']],
    text: `/** Result of validating a message, in gossipsub's words: accepted ones are relayed, rejected ones cost the sender score, ignored ones neither. */\nexport type MessageAcceptance = 'accept' | 'reject' | 'ignore'\n`,
  },
  { name: 'NETWORK_PROTOCOL_VERSION', into: 'src/network/messages.ts', from: [['src/node/parts/services.ts', 'CLIENT_PROTOCOL_VERSION']], text: null },
  { name: 'RecoverMany', into: 'src/crypto/recovery/known-senders.ts', from: [['src/node/parts/block-codec.ts', 'RecoverSenders']], text: null },
]
const spec = (from, to) => { const r = relative(dirname(from), to); return r.startsWith('.') ? r : `./${r}` }
const parse = p => ts.createSourceFile(p, read(p), ts.ScriptTarget.Latest, true)

/** Imports that nothing in the file uses any more. */
const dropUnused = path => {
  const sf = parse(path)
  let out = sf.text
  for (const s of [...sf.statements].reverse()) {
    if (!ts.isImportDeclaration(s) || !s.importClause?.namedBindings || !ts.isNamedImports(s.importClause.namedBindings)) continue
    const { elements } = s.importClause.namedBindings
    const rest = sf.text.replace(/^import [\s\S]*?from '[^']*'$/gm, '').replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '')
    const used = elements.filter(e => new RegExp(`(?<![\\w$])${e.name.text}(?![\\w$])`).test(rest))
    if (used.length === elements.length) continue
    const text = used.length === 0 ? '' : `import ${s.importClause.isTypeOnly ? 'type ' : ''}{ ${used.map(e => e.getText(sf)).join(', ')} } from '${s.moduleSpecifier.text}'\n`
    out = out.slice(0, s.getStart()) + text + out.slice(s.getEnd() + 1)
  }
  if (out !== sf.text) write(path, out)
}

for (const { name, into, from, text, also = {} } of JOINS) {
  const present = from.filter(([file, old]) => existsSync(join(ROOT, file)) && new RegExp(`export (?:type|interface|const) ${old}\\b`).test(read(file)))
  if (present.length === 0) { console.log(`${name}: nothing to join`); continue }
  if (text !== null && !existsSync(join(ROOT, into))) { write(into, text); tracked.push(into) }
  for (const [path, body] of Object.entries(also)) if (present.length > 0 && !existsSync(join(ROOT, path))) { mkdirSync(join(ROOT, dirname(path)), { recursive: true }); write(path, body) }
  const isType = text !== null || name === 'RecoverMany'
  for (const [file, old] of present) {
    if (file === into) continue
    // Remove the declaration with its comment.
    const source = parse(file)
    const st = source.statements.find(s => s.modifiers?.some(m => m.kind === ts.SyntaxKind.ExportKeyword) && (s.name?.text === old || s.declarationList?.declarations[0]?.name.text === old))
    const start = (ts.getLeadingCommentRanges(source.text, st.getFullStart()) ?? []).at(-1)?.pos ?? st.getStart()
    let body = `${source.text.slice(0, start)}${source.text.slice(st.getEnd()).replace(/^\n/, '')}`
    // The file itself goes on using it.
    if (new RegExp(`\\b${old}\\b`).test(body.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, ''))) {
      body = body.replace(new RegExp(`(?<![\\w$.])${old}(?![\\w$])`, 'g'), name)
      body = `import ${isType ? 'type ' : ''}{ ${name} } from '${spec(file, into)}'\n${body}`
    }
    write(file, body)
    dropUnused(file)
    // Importers.
    for (const path of tracked) {
      if (path === file || !existsSync(join(ROOT, path))) continue
      const sf = parse(path)
      const edits = []
      for (const s of sf.statements) {
        if (!ts.isImportDeclaration(s) || !s.moduleSpecifier.text.startsWith('.')) continue
        if (relative(ROOT, resolve(ROOT, dirname(path), s.moduleSpecifier.text)) !== file) continue
        const named = s.importClause?.namedBindings
        if (!named || !ts.isNamedImports(named)) continue
        const hit = named.elements.find(e => (e.propertyName ?? e.name).text === old)
        if (!hit) continue
        const rest = named.elements.filter(e => e !== hit).map(e => e.getText(sf))
        const clauseType = s.importClause.isTypeOnly ? 'type ' : ''
        const kept = rest.length === 0 ? '' : `import ${clauseType}{ ${rest.join(', ')} } from '${s.moduleSpecifier.text}'\n`
        const already = new RegExp(`import (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from '${spec(path, into).replace(/[./]/g, '\\$&')}'`).test(sf.text)
        const add = already || path === into ? '' : `import ${isType ? 'type ' : ''}{ ${name} } from '${spec(path, into)}'\n`
        edits.push({ start: s.getStart(), end: s.getEnd() + 1, text: kept + add, local: hit.name.text })
      }
      if (edits.length === 0) continue
      let out = sf.text
      for (const e of edits.sort((a, b) => b.start - a.start)) out = out.slice(0, e.start) + e.text + out.slice(e.end)
      for (const e of edits) if (e.local !== name) out = out.replace(new RegExp(`(?<![\\w$.])${e.local}(?![\\w$])`, 'g'), name)
      write(path, out)
    }
  }
  console.log(`${name}: ${present.length} joined in ${into}`)
}
// Gossipsub's words.
for (const path of tracked) {
  if (!existsSync(join(ROOT, path)) || !/(consensus|network|gossip|sim|hostile)/.test(path)) continue
  const before = read(path)
  if (!/judgeClaim|'pointless'|MessageAcceptance|wholeOrFalse|Judgement/.test(before)) continue
  let out = before.replaceAll("'pointless'", "'ignore'").replaceAll("'true'", "'accept'").replaceAll("'false'", "'reject'").replaceAll('`true`', '`accept`').replaceAll('`false`', '`reject`').replaceAll('`pointless`', '`ignore`').replaceAll('wholeOrFalse', 'acceptIfWhole')
  out = out.replace(/'accept' \| 'reject' \| 'ignore'(?=,)/g, "'accept' | 'reject' | 'ignore'")
  if (out !== before) { write(path, out); console.log(`words: ${path}`) }
}
