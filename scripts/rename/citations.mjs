#!/usr/bin/env node
/*
 * Rewrites citations of pages that the repository does not hold (SPEC, DESIGN, HOUSE, reference/*) into files and headings of docs/.
 *   node scripts/rename/citations.mjs [--root DIR] [--dry]
 * Works before and after the renames. Prints what it could not map; docs/consensus.md gets links in place of section numbers.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const args = process.argv.slice(2)
const ROOT = resolve(args.includes('--root') ? args[args.indexOf('--root') + 1] : process.cwd())
const DRY = args.includes('--dry')
const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n')
  .filter(p => /^(src|test|bench|scripts)\/.*\.ts$|^contracts\/.*\.sol$|^docs\/decisions\/.*\.md$|^(CONTRIBUTING|README)\.md$/.test(p) && !/docs-links\.test\.ts$/.test(p))

const I = 'docs/interface.md'
const D = name => `docs/design/${name}.md`
const SPEC = {
  '': I, 2.1: `${I}#encoding`, 2.2: `${I}#block-parameter`, 2.3: `${I}#block`, 2.4: `${I}#transaction`, 2.5: `${I}#receipt`, 2.6: `${I}#call`,
  2.7: `${I}#consensus-block`, 2.8: `${I}#chain-configuration`, 3: `${I}#transaction-states`, 4.1: `${I}#transport`, '4.1/5': `${I}#namespaces`,
  '4.1/6': `${I}#namespaces`, '4.1/7': `${I}#authentication`, 4.2: `${I}#standard-methods`, '4.2/2': `${I}#standard-methods`, '4.2/3': `${I}#standard-methods`,
  4.3: `${I}#native-methods`, 7: `${I}#errors`, 8: `${I}#limits`,
}
const DESIGN = {
  '': D('README'), 1: `${D('networks')}#ports`, 2: `${D('evm-rules')}#limits`, 3: `${D('blocks')}#header`, 4: `${D('council')}#committee`, 5: D('proof-chain'),
  6: `${D('money')}#fees`, 7: `${D('pool')}#checks`, 8: `${D('rpc')}#errors`, 9: `${D('execution')}#oracle`,
}
const C = h => `${D('consensus')}#${h}`
const CONSENSUS = {
  '': D('consensus'), 0: D('consensus'), 1: D('consensus'), 1.1: C('quorums'), 1.2: C('messages'), 1.3: C('proposals'), 1.4: C('validation'), 1.5: C('state-machine'),
  1.6: C('timers'), 1.7: C('buffers'), 1.8: C('certificates'), 1.9: `${D('council')}#qualification`, '1.10': C('pacing'), 1.11: C('write-ahead-log'),
  1.12: C('lone-and-small-committees'), 2: C('invariants'), 2.1: C('invariants'), 2.3: C('mutants'), 2.4: C('lies'), 3: D('network'), 3.4: `${D('network')}#limits`,
  4: `${D('network')}#block-sync`, 6: C('evidence'),
}
const OTHER = {
  'kaia-behaviour 0': `${D('evm-rules')}#calldata`, 'kaia-behaviour 1.1': `${D('rpc')}#transport`, 'kaia-behaviour 1.4': `${D('rpc')}#errors`,
  'kaia-behaviour 1.5': `${D('rpc')}#native-names`, 'kaia-behaviour 2': `${D('money')}#base-fee`, 'explorer 2.2': `${D('money')}#halving`,
  'performance 4': `${D('execution')}#executor`, 'proof-chain 3': `${D('proof-chain')}#mining`, 'clients 6': `${D('rpc')}#objects`, clients: `${D('rpc')}#objects`,
}
/** Same citation, another heading: by the end of the file's name (old or new). [file pattern, citation, target]. */
const SPECIAL = [
  [/networks\.ts$/, 'DESIGN 2', (line) => /blobs/.test(line) ? `${D('evm-rules')}#forks-in-force` : `${D('evm-rules')}#limits`],
  [/networks\.ts$/, 'DESIGN 4', () => `${D('council')}#council`],
  [/(evm\/env|block-env|kzg)\.ts$/, 'DESIGN 2', () => `${D('evm-rules')}#forks-in-force`],
  [/(eth-call|eth\/call|calls\/types)\.ts$/, 'DESIGN 2', () => `${D('evm-rules')}#calls`],
  [/engines\/ethereumjs|ethereumjs-engine|randao/, 'DESIGN 2', () => `${D('evm-rules')}#block-values`],
  [/oracle\.ts$/, 'DESIGN 2', (line) => /calldata/.test(line) ? `${D('evm-rules')}#calldata` : `${D('evm-rules')}#limits`],
  [/extra-data\.ts$|header-assembly|assembly\.ts$/, 'DESIGN 3', (line) => /extraData/.test(line) ? `${D('blocks')}#extra-data` : `${D('blocks')}#header`],
  [/primitives\/block\.ts$/, 'DESIGN 3', () => `${D('blocks')}#body`],
  [/chain.*block-env\.ts$/, 'DESIGN 3', () => `${D('blocks')}#miner`],
  [/consensus-info\.ts$/, 'DESIGN 3', () => `${D('blocks')}#consensus-members`],
  [/methods\.test\.ts$/, 'DESIGN 3', () => `${D('blocks')}#consensus-members`],
  [/consensus\/committee\.ts$/, 'DESIGN 4', () => `${D('council')}#proposer`],
  [/limits/, 'DESIGN 4', () => `${D('council')}#qualification`],
  [/seeds\.ts$|randao/, 'DESIGN 4', () => `${D('council')}#seed`],
  [/cycle\.ts$|council-rows/, 'DESIGN 4', () => `${D('council')}#cycles`],
  [/chain\/(council\/)?council\.ts$/, 'DESIGN 4', () => `${D('council')}#council`],
  [/service\.ts$|validator-activity/, 'DESIGN 4', () => `${D('council')}#qualification`],
  [/0018-peers/, 'DESIGN 4', () => `${D('network')}#transport`],
  [/0017-council/, 'DESIGN 4', () => D('council')],
  [/forks\.ts$/, 'DESIGN 5', () => `${D('proof-chain')}#fork-height`],
  [/chain-config\.ts$|methods\.test\.ts$/, 'DESIGN 5', () => `${D('proof-chain')}#fork-height`],
  [/primitives\/block\.ts$/, 'DESIGN 5', () => `${D('proof-chain')}#inclusion`],
  [/rewards\.ts$|cycle\.ts$|execution\.ts$|executor-types\.ts$|block-run\.ts$/, 'DESIGN 6', () => `${D('money')}#minting`],
  [/economy\.ts$|rpc\/ports\.ts$|supply\.ts$/, 'DESIGN 6', (line) => /total|identity|supply/i.test(line) ? `${D('money')}#supply` : `${D('money')}#minting`],
  [/base-fee\.ts$|clients-ledger/, 'DESIGN 6', () => `${D('money')}#suggested-price`],
  [/fee-history\.ts$/, 'DESIGN 6', () => `${D('rpc')}#fee-history`],
  [/openrpc\.test/, 'DESIGN 1', () => `${D('networks')}#parameters`],
  [/recorded-exceptions/, 'DESIGN 8', () => D('rpc')],
  [/watermark\.ts$/, 'consensus 1.11', () => C('watermark')],
  [/(quarantine|recovery)\.ts$/, 'consensus 1.11', () => C('quarantine')],
  [/engine-types\.ts$|engine\/types\.ts$/, 'consensus 1.11', () => C('catching-up')],
  [/verify-range\.ts$/, 'consensus 4', () => C('ranges')],
  [/metrics\.ts$/, 'consensus 4', () => 'docs/consensus.md#what-an-operator-sees'],
  [/limits/, 'consensus 4', () => `${D('snapshot-sync')}#trust`],
  [/wire\/snapshot\.ts$|0022/, 'consensus 4', () => `${D('snapshot-sync')}#chunks`],
  [/control\.ts$/, 'consensus 3.4', () => `${D('network')}#handshake`],
  [/standings\.ts$|peer-scores\.ts$/, 'consensus 3.4', () => `${D('network')}#scores`],
  [/signing-record\.ts$/, 'consensus 6', () => C('watermark')],
  [/(own-votes|validator)\.ts$|0019/, 'consensus 6', () => C('evidence')],
  [/scalars\.ts$|router\.ts$/, 'kaia-behaviour 1.1', () => `${D('rpc')}#arguments`],
  [/supply\.ts$/, 'explorer 2.2', () => `${D('money')}#halving`],
]
/** Whole phrases. */
const PHRASES = [
  [/Bytes and hex\. Bytes inside, 0x-hex at the edges and as map keys \(HOUSE\.md\)\./, 'Bytes and hex. Bytes inside, 0x-hex at the edges and as map keys (CONTRIBUTING.md#the-house).'],
  [/\(HOUSE\.md\)/g, '(CONTRIBUTING.md#the-house)'],
  [/\* HOUSE\.md as data:/, '* docs/architecture.md#floors as data:'],
  [/stands in no folder of HOUSE\.md/, 'stands in no folder of docs/architecture.md'],
  [/src keeps to the floors of HOUSE\.md/, 'src keeps to the floors of docs/architecture.md'],
  [/ \((?:SPEC|DESIGN)[^()]*\)(?=['`"])/g, ''], // titles of tests
  [/(['`"])([a-zA-Z ,-]+) \(SPEC [\d.]+(?:, (?:point|rule) \d+|, EIP-\d+)?\)\1/g, '$1$2$1'],
  [/have exactly the members of SPEC 2\.3/, 'have exactly the members of the interface'],
  [/cost what SPEC 8 says/, 'cost what the interface says'],
  [/SPEC section 8, "Gas used by operations \(measured, fixed per operation\)", to the unit/, 'Gas of common operations (docs/interface.md#limits), to the unit'],
  [/'SPEC 4\.1, point 6: "A method that exists but is missing arguments answers -32602\."'/, "'docs/design/rpc.md#arguments: a missing required argument is -32602'"],
  [/'SPEC 4\.2 does not list the method, and the namespaces hold what the interface names and no more \(DESIGN 8\)'/, "'docs/interface.md#standard-methods does not list the method, and the namespaces hold what the interface names'"],
  [/'SPEC 4\.1, point 5: no endpoint serves the namespace'/, "'docs/interface.md#namespaces: no endpoint serves the namespace'"],
  [/The text of DESIGN, by another keccak/, 'The text of docs/design/council.md#seed, by another keccak'],
  [/\/\*\* Rows of the table in reference\/consensus\.md 1\.9: council, down, committee, chance that a height can never finish\. \*\//, '/** Known values of the hypergeometric distribution (docs/design/council.md#committee): council, down, committee, chance that a height can never finish. */'],
  [/`proposer` and `totalDifficulty` by SPEC 2\.3/, '`proposer` and `totalDifficulty` by docs/interface.md#block'],
  [/which SPEC 4\.1 point 6 answers/, 'which docs/design/rpc.md#arguments answers'],
  [/SPEC nor DESIGN names/, 'docs/interface.md names'],
  [/which neither\nSPEC/, 'which\nSPEC'],
  [/`reference\/([a-z-]+)\.md`/g, 'reference/$1.md'],
]
const missing = []
const special = (path, line, key, fallback) => {
  for (const [pattern, cited, target] of SPECIAL) if (cited === key && pattern.test(path)) return target(line)
  return fallback
}
const uniq = list => [...new Set(list)].join(', ')
const rewriteLine = (path, line) => {
  let out = line
  for (const [from, to] of PHRASES) out = out.replace(from, to)
  // SPEC 2.3, SPEC 4.1, point 7; SPEC 4.1.7, 4.2 rule 2, 7; SPEC 4.1 and 7
  out = out.replace(/\bSPEC(?: section)?((?:,? (?:and )?\d+(?:\.\d+){0,2}(?:,? (?:point|rule) \d+)?)*)/g, (all, list) => {
    const items = [...list.matchAll(/(\d+(?:\.\d+)?)(?:\.(\d+))?(?:,? (?:point|rule) (\d+))?/g)].map(([, section, sub, point]) => [section, point ?? sub])
    if (items.length === 0) return I
    return uniq(items.map(([section, point]) => SPEC[`${section}/${point}`] ?? SPEC[section] ?? (missing.push(`${path}: ${all}`), I)))
  })
  out = out.replace(/\bDESIGN((?:,? (?:and )?\d)*)/g, (all, list) => {
    const items = [...list.matchAll(/\d/g)].map(([n]) => n)
    if (items.length === 0) return DESIGN['']
    return uniq(items.map(n => special(path, line, `DESIGN ${n}`, DESIGN[n] ?? (missing.push(`${path}: ${all}`), DESIGN['']))))
  })
  out = out.replace(/reference\/([a-z-]+)\.md((?:,? (?:and |section |point )?\d+(?:\.\d+)?)*)/g, (all, page, list) => {
    const items = [...list.matchAll(/\d+(?:\.\d+)?/g)].map(([n]) => n)
    if (page === 'consensus') return uniq((items.length === 0 ? [''] : items).map(n => special(path, line, `consensus ${n}`, CONSENSUS[n] ?? (missing.push(`${path}: ${all}`), CONSENSUS['']))))
    return uniq((items.length === 0 ? [''] : items).map(n => special(path, line, `${page} ${n}`, OTHER[`${page} ${n}`.trim()] ?? OTHER[page] ?? (missing.push(`${path}: ${all}`), all))))
  })
  return out
}
let lines = 0
let changed = 0
for (const path of files) {
  const before = readFileSync(join(ROOT, path), 'utf8')
  if (!/\b(SPEC|DESIGN|HOUSE)\b|reference\//.test(before)) continue
  const after = before.split('\n').map(line => { if (!/\b(SPEC|DESIGN|HOUSE)\b|reference\//.test(line)) return line; const to = rewriteLine(path, line); if (to !== line) lines++; return to }).join('\n')
  if (after !== before) { changed++; if (!DRY) writeFileSync(join(ROOT, path), after) }
}
// docs/consensus.md: numbers of sections become links.
{
  const path = 'docs/consensus.md'
  const before = readFileSync(join(ROOT, path), 'utf8')
  const headings = { 1.1: 'quorums', 1.2: 'messages', 1.3: 'proposals', 1.4: 'validation', 1.5: 'state-machine', 1.6: 'timers', 1.7: 'buffers', 1.8: 'certificates', '1.10': 'pacing', 1.11: 'write-ahead-log', 1.12: 'lone-and-small-committees', 2.1: 'invariants', 6: 'evidence', 4: 'ranges' }
  const link = n => n === '1.9' ? '[committee](design/council.md#committee)' : n === '3.4' ? '[limits](design/network.md#limits)' : headings[n] ? `[${headings[n].replaceAll('-', ' ')}](design/consensus.md#${headings[n]})` : n
  let after = before
    .replace('QBFT with the differences of `reference/consensus.md` 0 and 1 (its sections are the numbers below).', 'QBFT with the differences named in [design/consensus.md](design/consensus.md).')
    .replace('| rule | section | file | held by |', '| rule | law | file | held by |')
    .replace(/^(\|[^|]*\|) ((?:\d+(?:\.\d+)?)(?:, \d+(?:\.\d+)?)*) (\|)/gm, (all, head, list, tail) => `${head} ${list.split(', ').map(link).join(', ')} ${tail}`)
    .replace(/^(\| what an operator sees[^|]*\|) [^|]* \|/m, '$1 [below](#what-an-operator-sees) |')
    .replace(/^(\|[^|]*\|) \[write ahead log\]\(design\/consensus\.md#write-ahead-log\) (\|[^|]*quarantine\.ts)/gm, '$1 [quarantine](design/consensus.md#quarantine) $2')
    .replace(/^(\|[^|]*\|) \[write ahead log\]\(design\/consensus\.md#write-ahead-log\) (\|[^|]*watermark\.ts)/gm, '$1 [watermark](design/consensus.md#watermark) $2')
    .replace(/\(1\.10 asks for one\)/, '([pacing](design/consensus.md#pacing) asks for one)')
    .replace(/statuses carry no time \(1\.10\)/, 'statuses carry no time ([pacing](design/consensus.md#pacing))')
    .replace(/remote signer of section 6/, 'remote signer of [the evidence page](design/consensus.md#evidence)')
  if (after !== before && !DRY) writeFileSync(join(ROOT, path), after)
}
console.log(`${lines} lines in ${changed} files`)
for (const text of missing) console.log(`not mapped: ${text}`)
const left = files.flatMap(path => readFileSync(join(ROOT, path), 'utf8').split('\n').map((l, i) => [l, i]).filter(([l]) => /\b(SPEC|DESIGN|HOUSE)\b(?!_)|reference\/[a-z]/.test(l)).map(([l, i]) => `${path}:${i + 1}: ${l.trim().slice(0, 140)}`))
if (!DRY) { console.log(`left: ${left.length}`); for (const l of left) console.log(l) }
