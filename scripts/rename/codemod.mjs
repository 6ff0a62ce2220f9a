#!/usr/bin/env node
/*
 * Applies scripts/rename/renames.tsv to a checkout: symbols by the type checker, files by git mv, import paths, and mentions of paths and
 * names in comments, strings, docs and configuration.
 *
 *   node scripts/rename/codemod.mjs [--root DIR] [--tsv FILE] [--only PREFIX]... [--dry] [--no-format]
 *
 * --only src/consensus   only rows whose old path begins so (metric and log rows always apply when no --only is given)
 * Needs TypeScript 5.9, see README.md. The working tree must be clean. Prints warnings for rows that do not match.
 * Applying it twice does nothing the second time: rows whose old file or export is gone and whose new one is there are passed over.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative, resolve } from 'node:path'

const require = createRequire(join(process.env.TYPESCRIPT_DIR ?? '.', 'package.json'))
const ts = require('typescript')

const args = process.argv.slice(2)
const opt = (name, def) => { const i = args.indexOf(name); return i < 0 ? def : args[i + 1] }
const ROOT = resolve(opt('--root', process.cwd()))
const TSV = opt('--tsv', new URL('./renames.tsv', import.meta.url).pathname)
const ONLY = args.flatMap((a, i) => (a === '--only' ? [args[i + 1]] : []))
const DRY = args.includes('--dry')
const warnings = []
const warn = text => { warnings.push(text) }
const git = (...a) => execFileSync('git', a, { cwd: ROOT, encoding: 'utf8' })
const rel = p => relative(ROOT, p)
const tracked = git('ls-files').split('\n').filter(Boolean)
const trackedSet = new Set(tracked)

// ---------------------------------------------------------------- rows
const rows = readFileSync(TSV, 'utf8').split('\n').filter(l => l.trim() !== '' && !l.startsWith('#')).map(l => l.split('\t'))
const wanted = old => ONLY.length === 0 || ONLY.some(p => old.startsWith(p))
const fileRows = rows.filter(r => r[0] === 'file' && wanted(r[1]))
const exportRows = rows.filter(r => r[0] === 'export' && wanted(r[1]))
const memberRows = rows.filter(r => r[0] === 'member' && wanted(r[1]))
const identRows = ONLY.length === 0 ? rows.filter(r => r[0] === 'ident') : []
const textRows = ONLY.length === 0 ? rows.filter(r => ['metric', 'log', 'text'].includes(r[0])) : []

const moves = new Map() // old rel -> new rel
for (const [, from, to] of fileRows) {
  if (!trackedSet.has(from)) { if (!trackedSet.has(to)) warn(`file row: neither ${from} nor ${to} is there`); continue }
  if (trackedSet.has(to)) { warn(`file row: ${to} exists already, ${from} not moved`); continue }
  moves.set(from, to)
}
// Folders whose remaining files go along.
const dirRows = rows.filter(r => r[0] === 'dir' && wanted(r[1]))
for (const path of tracked) {
  const row = moves.has(path) || fileRows.some(r => r[2] === path) ? undefined : dirRows.find(([, from]) => path.startsWith(from))
  if (row === undefined) continue
  const to = row[2] + path.slice(row[1].length)
  if (!trackedSet.has(to)) moves.set(path, to)
}
// Tests that mirror src move with their file; a test of a name of its own goes where most of its folder's sources went (rows may say otherwise).
for (const path of tracked) {
  const m = /^test\/unit\/(.+)\.test\.ts$/.exec(path)
  if (!m || moves.has(path)) continue
  const to = moves.get(`src/${m[1]}.ts`)
  if (to?.startsWith('src/')) moves.set(path, `test/unit/${to.slice(4, -3)}.test.ts`)
}
const pathNow = new Map(fileRows.map(r => [r[1], r[2]]))
const current = old => (trackedSet.has(old) ? old : pathNow.get(old) && trackedSet.has(pathNow.get(old)) ? pathNow.get(old) : allNow.get(old))
const allNow = new Map(rows.filter(r => r[0] === 'file').map(r => [r[1], trackedSet.has(r[2]) ? r[2] : undefined]))

// ---------------------------------------------------------------- program
const cfg = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
const parsed = ts.parseJsonConfigFileContent(cfg.config, ts.sys, ROOT)
const program = ts.createProgram(parsed.fileNames, { ...parsed.options, noEmit: true })
const checker = program.getTypeChecker()
const sources = program.getSourceFiles().filter(f => !f.isDeclarationFile && !f.fileName.includes('/node_modules/'))
const sourceOf = new Map(sources.map(f => [rel(f.fileName), f]))

const unalias = symbol => (symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol)
const renamed = new Map() // symbol -> new name
const oldNames = new Set()
const typeRenames = new Map() // type symbol -> { olds, local }
const newNameByFile = new Map() // rel file -> Map(old ident -> new ident): used for comments and mutants
const globalNames = new Map() // old export name -> Set(new): for docs and comments
const lower = name => { const m = /^[A-Z]+(?=[A-Z][a-z])|^[A-Z]/.exec(name); return m ? name.slice(0, m[0].length).toLowerCase() + name.slice(m[0].length) : name }
const add = (symbol, to) => { renamed.set(symbol, to); oldNames.add(symbol.name) }

for (const [, old, to, local] of exportRows) {
  const [path, name] = old.split('#')
  const at = current(path)
  const file = at && sourceOf.get(at)
  const moduleSymbol = file && checker.getSymbolAtLocation(file)
  const symbol = moduleSymbol && checker.getExportsOfModule(moduleSymbol).find(s => s.name === name)
  if (symbol === undefined) {
    const done = moduleSymbol && checker.getExportsOfModule(moduleSymbol).some(s => s.name === to)
    if (!done) warn(`export row: ${old} is not there`)
    continue
  }
  if (checker.getExportsOfModule(moduleSymbol).some(s => s.name === to)) { warn(`export row: ${path} exports ${to} already`); continue }
  add(unalias(symbol), to)
  ;(globalNames.get(name) ?? globalNames.set(name, new Set()).get(name)).add(to)
  if (/^[A-Z]/.test(name)) {
    const [given, alternatives = ''] = (local ?? '').split('<')
    typeRenames.set(unalias(symbol), { olds: new Set([lower(name), ...alternatives.split(',').filter(Boolean)]), local: given || lower(to) })
  }
}
const literalMembers = new Map() // member name -> new name, also in object literals that nothing gives a type
for (const [, old, to] of memberRows) {
  const [path, place] = old.split('#')
  const [typeName, member] = place.split('.')
  const at = current(path)
  const file = at && sourceOf.get(at)
  const moduleSymbol = file && checker.getSymbolAtLocation(file)
  const type = moduleSymbol && checker.getExportsOfModule(moduleSymbol).find(s => s.name === typeName)
  const symbol = type?.members?.get(ts.escapeLeadingUnderscores(member))
  if (symbol === undefined) { warn(`member row: ${old} is not there`); continue }
  add(symbol, to)
  literalMembers.set(member, to)
}
const identMap = new Map(identRows.map(([, old, to, where = 'src/']) => [old, { to, where }]))

// Variables, parameters and properties named after a renamed type take its new name.
const nameOf = node => (ts.isPrivateIdentifier(node) ? node.text.slice(1) : node.text)
const identifiersIn = file => {
  const out = new Set()
  const visit = node => { if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) out.add(nameOf(node)); ts.forEachChild(node, visit) }
  visit(file)
  return out
}
const namesIn = new Map(sources.map(f => [f, identifiersIn(f)]))
const isDeclName = node => {
  const p = node.parent
  return p && p.name === node && (ts.isVariableDeclaration(p) || ts.isParameter(p) || ts.isPropertySignature(p) || ts.isPropertyDeclaration(p) || ts.isBindingElement(p) || ts.isGetAccessor(p))
}
const autoOld = new Set([...typeRenames.values()].flatMap(({ olds }) => [...olds]))
const pendingLocals = []
const isAlias = symbol => (symbol.flags & ts.SymbolFlags.TypeAlias) !== 0
/** A member of an object literal whose place in a type is not known. */
const isFreeMember = node => {
  const p = node.parent
  if (!p || p.name !== node || !ts.isObjectLiteralExpression(p.parent)) return false
  if (!(ts.isPropertyAssignment(p) || ts.isShorthandPropertyAssignment(p) || ts.isMethodDeclaration(p))) return false
  const type = checker.getContextualType(p.parent)
  return type === undefined || !(type.isUnion() ? type.types : [type]).some(t => t.getProperty(nameOf(node)))
}
const freeMembers = new Map() // identifier node -> new name
const visitLocals = (file, node) => {
  if (ts.isIdentifier(node) && isFreeMember(node)) {
    const name = node.text
    if (literalMembers.has(name) && !ts.isShorthandPropertyAssignment(node.parent)) freeMembers.set(node, literalMembers.get(name))
    else if (autoOld.has(name)) {
      const type = checker.getNonNullableType(checker.getTypeAtLocation(node))
      const rename = type.symbol && typeRenames.get(type.symbol)
      if (rename?.olds.has(name) && !isAlias(type.symbol)) freeMembers.set(node, rename.local)
    }
  }
  if ((ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) && isDeclName(node)) {
    const name = nameOf(node)
    const ident = identMap.get(name)
    let to
    if (ident !== undefined && rel(file.fileName).startsWith(ident.where)) to = ident.to
    else if (autoOld.has(name)) {
      let type = checker.getTypeAtLocation(node)
      if (ts.isGetAccessor(node.parent)) type = checker.getReturnTypeOfSignature(checker.getSignatureFromDeclaration(node.parent))
      type = checker.getNonNullableType(type)
      for (const symbol of [type.aliasSymbol, type.symbol]) {
        const rename = symbol && typeRenames.get(symbol)
        const isProperty = !ts.isPrivateIdentifier(node) && (ts.isPropertySignature(node.parent) || ts.isPropertyDeclaration(node.parent) || ts.isGetAccessor(node.parent))
        if (rename?.olds.has(name) && !(isProperty && isAlias(symbol))) to = rename.local
      }
    }
    if (to !== undefined && to !== name) pendingLocals.push({ file, node, to, name })
  }
  ts.forEachChild(node, child => visitLocals(file, child))
}
for (const file of sources) visitLocals(file, file)
const RESERVED = new Set(['package', 'interface', 'private', 'public', 'protected', 'static', 'default', 'new', 'switch'])
for (const { file, node, to, name } of pendingLocals) {
  const symbol = checker.getSymbolAtLocation(node)
  if (symbol === undefined || renamed.has(symbol)) continue
  const isLocal = !ts.isPropertySignature(node.parent) && !ts.isPropertyDeclaration(node.parent) && !ts.isGetAccessor(node.parent)
  // A second thing of that name in the file might be captured: the old name stays.
  if (RESERVED.has(to)) continue
  if (isLocal && namesIn.get(file).has(to)) { warn(`local ${name} in ${rel(file.fileName)} keeps its name: ${to} is used there`); continue }
  if (!isLocal && ts.isClassDeclaration(node.parent.parent) && node.parent.parent.members.some(m => m.name && nameOf(m.name) === to && m.name.kind === node.kind)) { warn(`member ${name} in ${rel(file.fileName)} keeps its name: ${to} exists`); continue }
  add(symbol, to)
  oldNames.add(name)
}

// ---------------------------------------------------------------- symbol edits
const edits = new Map() // SourceFile -> [{start,end,text}]
const edit = (file, start, end, text) => (edits.get(file) ?? edits.set(file, []).get(file)).push({ start, end, text })
const noteName = (file, from, to) => {
  const map = newNameByFile.get(rel(file.fileName)) ?? new Map()
  newNameByFile.set(rel(file.fileName), map)
  if (map.has(from) && map.get(from) !== to) map.set(from, null)
  else if (!map.has(from)) map.set(from, to)
}
const roots = symbol => (symbol === undefined ? [] : [symbol, ...checker.getRootSymbols(symbol)])
const newNameOf = symbol => { for (const s of roots(symbol)) if (renamed.has(s)) return renamed.get(s); const u = unalias(symbol); return u && renamed.get(u) }
const literalProperty = (objectLiteral, name) => {
  const type = checker.getContextualType(objectLiteral)
  if (type === undefined) return undefined
  const parts = type.isUnion() ? type.types : [type]
  for (const part of parts) { const p = part.getProperty(name); const to = p && newNameOf(p); if (to !== undefined) return to }
  return undefined
}
const bindingProperty = (element, name) => {
  const type = checker.getTypeAtLocation(element.parent)
  const parts = type.isUnion() ? type.types : [type]
  for (const part of parts) { const p = part.getProperty(name); const to = p && newNameOf(p); if (to !== undefined) return to }
  return undefined
}
const visit = (file, node) => {
  if ((ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) && oldNames.has(nameOf(node))) rename(file, node)
  else if (ts.isStringLiteral(node) && oldNames.has(node.text)) renameKey(file, node)
  ts.forEachChild(node, child => visit(file, child))
}
/** Names of members in Pick, Omit and keyof types. */
const renameKey = (file, node) => {
  const lit = node.parent
  if (!ts.isLiteralTypeNode(lit)) return
  let ref = lit.parent
  if (ts.isUnionTypeNode(ref)) ref = ref.parent
  let target
  if (ts.isTypeReferenceNode(ref) && ['Pick', 'Omit'].includes(ref.typeName.getText()) && ref.typeArguments?.[0]) target = checker.getTypeAtLocation(ref.typeArguments[0])
  else if (ts.isIndexedAccessTypeNode(ref)) target = checker.getTypeAtLocation(ref.objectType)
  const p = target?.getProperty(node.text)
  const to = p && newNameOf(p)
  if (to !== undefined) edit(file, node.getStart(file) + 1, node.getEnd() - 1, to)
}
// Expected values of tests: `expect(x).toEqual({ member: ... })` has no type.
const memberNames = new Map()
for (const [symbol, to] of renamed) if (symbol.flags & ts.SymbolFlags.Property && !symbol.name.startsWith('__#')) (memberNames.get(symbol.name) ?? memberNames.set(symbol.name, new Set()).get(symbol.name)).add(to)
const isExpectation = node => {
  for (let at = node.parent; at; at = at.parent) {
    if (ts.isCallExpression(at)) return ts.isPropertyAccessExpression(at.expression) && /^to[A-Z]|^objectContaining$/.test(at.expression.name.text)
    if (!(ts.isObjectLiteralExpression(at) || ts.isPropertyAssignment(at) || ts.isArrayLiteralExpression(at))) return false
  }
  return false
}
/** Whether the value that is expected to look so has a member of that name which is renamed; true where its type is not known. */
const actualHas = (node, to) => {
  const path = []
  let at = node.parent
  for (; at && !ts.isCallExpression(at); at = at.parent) {
    if (ts.isPropertyAssignment(at)) path.unshift(at.name.getText())
    else if (ts.isArrayLiteralExpression(at)) path.unshift('[]')
  }
  let call = at?.expression
  while (call && !(ts.isCallExpression(call) && call.expression.getText() === 'expect')) call = call.expression
  if (!call?.arguments?.[0]) return false
  let type = checker.getAwaitedType(checker.getTypeAtLocation(call.arguments[0])) ?? checker.getTypeAtLocation(call.arguments[0])
  for (const name of path) {
    if (type === undefined || type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return false
    type = checker.getNonNullableType(type)
    if (name === '[]') { type = checker.getIndexTypeOfType(type, ts.IndexKind.Number); continue }
    const parts = type.isUnion() ? type.types : [type]
    const symbols = parts.flatMap(t => t.getProperty(name) ?? [])
    if (name === node.text && path.at(-1) === name && path.indexOf(name) === path.length - 1) return symbols.some(s => newNameOf(s) === to)
    type = symbols[0] && checker.getTypeOfSymbol(symbols[0])
  }
  return false
}
for (const file of sources) {
  if (!rel(file.fileName).startsWith('test/')) continue
  const look = node => {
    if (ts.isIdentifier(node) && memberNames.get(node.text)?.size === 1 && !freeMembers.has(node) && ts.isPropertyAssignment(node.parent) && node.parent.name === node && isExpectation(node.parent.parent) && actualHas(node, [...memberNames.get(node.text)][0])) freeMembers.set(node, [...memberNames.get(node.text)][0])
    ts.forEachChild(node, look)
  }
  look(file)
}
for (const [node, to] of freeMembers) add(node.parent.symbol, to)
const rename = (file, node) => {
  const start = node.getStart(file)
  const end = node.getEnd()
  const name = nameOf(node)
  const put = to => { edit(file, start, end, ts.isPrivateIdentifier(node) ? `#${to}` : to); noteName(file, name, to) }
  const p = node.parent
  if (ts.isShorthandPropertyAssignment(p) && p.name === node) {
    const value = checker.getShorthandAssignmentValueSymbol(p)
    const valueTo = newNameOf(value) ?? name
    let propertyTo = literalProperty(p.parent, name) ?? freeMembers.get(node)
    if (propertyTo === undefined) { const own = newNameOf(checker.getSymbolAtLocation(node)); propertyTo = own !== undefined && own !== newNameOf(value) ? own : name }
    if (valueTo === name && propertyTo === name) return
    edit(file, start, end, valueTo === propertyTo ? valueTo : `${propertyTo}: ${valueTo}`)
    noteName(file, name, valueTo)
    return
  }
  if (ts.isBindingElement(p) && p.propertyName === undefined && p.name === node && ts.isObjectBindingPattern(p.parent) && !p.dotDotDotToken) {
    const local = newNameOf(checker.getSymbolAtLocation(node)) ?? name
    const property = bindingProperty(p, name) ?? name
    if (local === name && property === name) return
    edit(file, start, end, local === property ? local : `${property}: ${local}`)
    noteName(file, name, local)
    return
  }
  if (ts.isBindingElement(p) && p.propertyName === node) {
    const property = bindingProperty(p, name)
    if (property !== undefined) put(property)
    return
  }
  if ((ts.isPropertyAssignment(p) || (ts.isMethodDeclaration(p) && ts.isObjectLiteralExpression(p.parent))) && p.name === node) {
    const to = freeMembers.get(node) ?? literalProperty(p.parent, name) ?? newNameOf(checker.getSymbolAtLocation(node))
    if (to !== undefined) put(to)
    return
  }
  const symbol = checker.getSymbolAtLocation(node)
  const to = newNameOf(symbol)
  if (to === undefined) return
  // `import { Old as x }`: x stays.
  if (symbol.flags & ts.SymbolFlags.Alias && symbol.name !== unalias(symbol).name && !(ts.isImportSpecifier(p) && p.propertyName === node)) return
  if (ts.isImportSpecifier(p) && p.propertyName !== undefined && p.name === node) return
  put(to)
}
// A binding that takes a renamed export out of `await import()` takes its name too.
for (const file of sources) {
  const look = node => {
    if (ts.isBindingElement(node) && node.propertyName === undefined && ts.isIdentifier(node.name) && oldNames.has(node.name.text)) {
      const to = bindingProperty(node, node.name.text)
      const local = checker.getSymbolAtLocation(node.name)
      if (to !== undefined && local && !renamed.has(local)) {
        if (namesIn.get(file).has(to)) warn(`binding ${node.name.text} in ${rel(file.fileName)} keeps its name: ${to} is used there`)
        else renamed.set(local, to)
      }
    }
    ts.forEachChild(node, look)
  }
  look(file)
}
for (const file of sources) visit(file, file)
// A new name that means something else in the same file.
for (const [file] of edits) {
  const map = newNameByFile.get(rel(file.fileName)) ?? new Map()
  for (const [from, to] of map) if (to !== null && namesIn.get(file).has(to) && !map.has(to)) warn(`check ${rel(file.fileName)}: ${from} became ${to}, which is a name there already`)
}
const texts = new Map()
for (const file of sources) texts.set(rel(file.fileName), file.text)
for (const [file, list] of edits) {
  let text = file.text
  for (const { start, end, text: to } of list.sort((a, b) => b.start - a.start)) text = text.slice(0, start) + to + text.slice(end)
  texts.set(rel(file.fileName), text)
}
console.log(`${renamed.size} symbols, ${[...edits.values()].reduce((n, l) => n + l.length, 0)} places in ${edits.size} files; ${moves.size} files to move`)

// ---------------------------------------------------------------- import paths
const newPath = path => moves.get(path) ?? path
const isFile = path => trackedSet.has(path) || existsSync(join(ROOT, path))
const toSpecifier = (fromNew, targetNew) => { const r = relative(dirname(fromNew), targetNew); return r.startsWith('.') ? r : `./${r}` }
const specifierEdits = (path, text) => {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const out = []
  const rewrite = (node, bare) => {
    const spec = node.text
    if (!(spec.startsWith('.') || bare)) return
    const target = relative(ROOT, resolve(ROOT, dirname(path), spec))
    const movedTarget = newPath(target)
    if (movedTarget === target && newPath(path) === path) return
    if (!isFile(target)) { if (movedTarget === target && !target.includes('*') && newPath(path) !== path && !existsSync(join(ROOT, target))) return }
    let to = toSpecifier(newPath(path), movedTarget)
    if (bare && to.startsWith('./')) to = to.slice(2)
    if (spec.endsWith('/') && !to.endsWith('/')) to += '/'
    if (to !== spec) out.push({ start: node.getStart(file) + 1, end: node.getEnd() - 1, text: to })
  }
  const look = node => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) rewrite(node.moduleSpecifier, false)
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) rewrite(node.argument.literal, false)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword && node.arguments[0] && ts.isStringLiteralLike(node.arguments[0])) rewrite(node.arguments[0], false)
    else if (ts.isNewExpression(node) && node.expression.getText(file) === 'URL' && node.arguments?.[1]?.getText(file) === 'import.meta.url') {
      const first = node.arguments[0]
      if (ts.isStringLiteralLike(first)) rewrite(first, !first.text.startsWith('.'))
      else if (ts.isTemplateExpression(first) && newPath(path) !== path) {
        const head = first.head.text
        const cut = head.lastIndexOf('/') + 1
        const target = relative(ROOT, resolve(ROOT, dirname(path), head.slice(0, cut) || '.'))
        let to = toSpecifier(newPath(path), target)
        if (!to.endsWith('/')) to += '/'
        out.push({ start: first.head.getStart(file) + 1, end: first.head.getStart(file) + 1 + cut, text: to })
      }
    }
    ts.forEachChild(node, look)
  }
  look(file)
  return out
}
for (const [path, text] of texts) {
  let out = text
  for (const { start, end, text: to } of specifierEdits(path, text).sort((a, b) => b.start - a.start)) out = out.slice(0, start) + to + out.slice(end)
  texts.set(path, out)
}

// ---------------------------------------------------------------- mentions of paths and names
const PATH = /(?<![\w@$.{}/-])((?:[\w.-]+\/)*[\w.-]+\.(?:ts|wasm|json|mjs|md))(?![\w/-])/g
const bySuffix = new Map()
for (const path of tracked) { const parts = path.split('/'); for (let i = 0; i < parts.length; i++) { const s = parts.slice(i).join('/'); (bySuffix.get(s) ?? bySuffix.set(s, []).get(s)).push(path) } }
/** The file that a mention means: beside the file that names it, from the root, from src, else the one file whose path ends so. */
const meant = (token, from) => {
  const context = [dirname(from), '', 'src', `src/${from.split('/')[1] ?? ''}`, 'test', 'test/unit', ...(CONTEXT[from] ?? [])]
  for (const base of context) { const path = join(base, token); if (trackedSet.has(path)) return path }
  const all = bySuffix.get(token) ?? []
  const inSrc = all.filter(p => p.startsWith('src/'))
  const list = inSrc.length === 1 ? inSrc : all
  return list.length === 1 ? list[0] : undefined
}
const CONTEXT = { 'docs/consensus.md': ['src/consensus', 'test/unit/consensus'], 'docs/council.md': ['src/chain'] }
const rewriteToken = (token, from) => {
  const old = meant(token, from)
  const to = old && moves.get(old)
  if (to === undefined) return token
  const prefix = old.slice(0, old.length - token.length)
  if (old.endsWith(token) && to.startsWith(prefix) && prefix !== '') {
    const short = to.slice(prefix.length)
    return short.includes('/') || token.includes('/') || (bySuffixNew(short) ?? 1) === 1 ? short : to.replace(/^src\//, '')
  }
  return prefix === 'src/' || !old.endsWith(token) || prefix !== '' ? to.replace(/^src\//, '') : to
}
const bySuffixNew = () => 1
const rewriteMentions = (text, from) => text.replace(PATH, token => rewriteToken(token, from))
const uniqueNames = new Map([...globalNames].filter(([, set]) => set.size === 1).map(([old, set]) => [old, [...set][0]]))
const stillUsed = new Set()
for (const [path, file] of sourceOf) if (path.startsWith('src/')) { const m = checker.getSymbolAtLocation(file); if (m) for (const s of checker.getExportsOfModule(m)) if (!renamed.has(unalias(s))) stillUsed.add(s.name) }
const renameInComment = (comment, path) => {
  const local = newNameByFile.get(path) ?? new Map()
  return comment
    .replace(/`([A-Za-z_$][\w$]*)((?:\.[\w$]+)?(?:\(\))?)`/g, (all, name, rest) => {
      const to = local.get(name) ?? (stillUsed.has(name) ? undefined : uniqueNames.get(name))
      return to ? `\`${to}${rest}\`` : all
    })
    // CodedError<Name> and words in capitals with two humps are never prose.
    .replace(/(?<![`\w.])([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+)(?![\w`])/g, (all, name) => {
      const to = local.get(name) ?? (stillUsed.has(name) ? undefined : uniqueNames.get(name))
      return to ?? all
    })
}
const commentRanges = text => {
  const out = []
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, ts.LanguageVariant.Standard, text)
  const file = ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true)
  const seen = new Set()
  const look = node => {
    for (const r of [...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []), ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? [])]) if (!seen.has(r.pos)) { seen.add(r.pos); out.push(r) }
    ts.forEachChild(node, look)
    // Comments before a closing brace belong to no child.
    for (const child of node.getChildren(file)) for (const r of ts.getLeadingCommentRanges(text, child.getFullStart()) ?? []) if (!seen.has(r.pos)) { seen.add(r.pos); out.push(r) }
  }
  look(file)
  void scanner
  return out.sort((a, b) => b.pos - a.pos)
}
const pathStrings = (path, text) => {
  // String literals that are a known path (tables of tests, mutants, scripts).
  return text.replace(/(['"])((?:[\w.-]+\/)+[\w.-]+\.(?:ts|wasm))\1/g, (all, quote, token) => {
    if (token.startsWith('.')) return all
    for (const base of ['', 'src']) { const old = join(base, token); if (moves.has(old)) { const to = moves.get(old); return `${quote}${base === 'src' && to.startsWith('src/') ? to.slice(4) : to}${quote}` } }
    return all
  })
}
for (const [path, text] of texts) {
  let out = text
  for (const { pos, end } of commentRanges(text)) {
    const comment = out.slice(pos, end)
    const to = renameInComment(rewriteMentions(comment, path), path)
    if (to !== comment) out = out.slice(0, pos) + to + out.slice(end)
  }
  out = pathStrings(path, out)
  // Scripts inside tests.
  out = out.replace(/(['"])\.\/((?:src|test)\/[\w./-]+\.ts)\1/g, (all, quote, old) => (moves.has(old) ? `${quote}./${moves.get(old)}${quote}` : all))
  texts.set(path, out)
}
// Mutants patch source text: names inside their patches follow the file they patch.
for (const path of ['test/support/mutants/mutants.ts', 'test/support/mutants/kills.ts']) {
  const text = texts.get(path)
  if (text === undefined || !path.endsWith('mutants.ts')) continue
  const backwards = new Map([...moves].map(([a, b]) => [b, a]))
  let at = ''
  const out = text.replace(/'((?:[\w-]+\/)+[\w-]+\.ts)'|'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|`((?:\\[\s\S]|[^`\\])*)`|\bconst (\w+) = '([\w/-]+\.ts)'/g, (all, file, a, b, c, ...more) => {
    // A name of a mutant is prose.
    const offset = more.find(m => typeof m === 'number')
    if (text[offset + all.length] === ':') return all
    if (file !== undefined) { at = file; return all }
    const body = a ?? b ?? c
    if (body === undefined || at === '') return all
    const old = backwards.get(`src/${at}`) ?? `src/${at}`
    const names = newNameByFile.get(old)
    if (names === undefined) return all
    let to = body
    for (const [from, name] of names) if (name !== null) to = to.replace(new RegExp(`(?<![\\w$.'-])(#?)${from.replace('$', '\\$')}(?![\\w$'-])`, 'g'), `$1${name}`)
    return to === body ? all : all[0] + to + all[all.length - 1]
  })
  texts.set(path, out)
}
// Documents and configuration.
const DOCS = tracked.filter(p => /^(src\/.*\/assembly\/.*\.ts$|contracts\/.*\.sol$|docs\/.*\.md|README\.md|CONTRIBUTING\.md|biome\.json|package\.json|vitest\.config\.ts|\.ci\/.*|scripts\/.*)$/.test(p) && !texts.has(p))
for (const path of DOCS) {
  const before = readFileSync(join(ROOT, path), 'utf8')
  let text = rewriteMentions(before, path)
  if (path.endsWith('.md')) text = text.replace(/`([A-Za-z_$][\w$]*)((?:\.[\w$]+)?(?:\(\))?)`/g, (all, name, rest) => { const to = stillUsed.has(name) || /^[a-z]+$/.test(name) ? undefined : uniqueNames.get(name); return to ? `\`${to}${rest}\`` : all })
  if (text !== before) texts.set(path, text)
}
// Metrics and log words: exact text.
for (const [kind, old, to] of textRows) {
  let hits = 0
  for (const p of [...texts.keys(), ...tracked.filter(f => /^(docs\/.*\.md|README\.md)$/.test(f) && !texts.has(f))]) {
    const text = texts.get(p) ?? readFileSync(join(ROOT, p), 'utf8')
    const pattern = kind === 'metric' ? new RegExp(`(?<![a-z_])${old}(?![a-z])`, 'g') : undefined
    const out = pattern ? text.replace(pattern, to) : text.split(old).join(to)
    if (out !== text) { hits++; texts.set(p, out) }
  }
  if (hits === 0) warn(`${kind} row: ${old} is nowhere`)
}

// ---------------------------------------------------------------- write
let changed = 0
if (!DRY) {
  for (const [from, to] of moves) { mkdirSync(join(ROOT, dirname(to)), { recursive: true }); git('mv', from, to) }
  for (const [path, text] of texts) {
    const to = join(ROOT, newPath(path))
    if (readFileSync(to, 'utf8') !== text) { writeFileSync(to, text); changed++ }
  }
}
console.log(`${changed} files written`)
const inMoved = new Set([...moves.keys()].map(p => dirname(p)))
const left = tracked.filter(p => p.startsWith('src/') && p.endsWith('.ts') && inMoved.has(dirname(p)) && !moves.has(p) && !rows.some(r => r[0] === 'file' && (r[2] === p || r[1] === p)) && !rows.some(r => r[1].startsWith(`${p}#`)))
if (left.length > 0 && ONLY.length === 0) console.log(`not in the table (new, or staying): ${left.join(' ')}`)
for (const text of warnings) console.log(`warning: ${text}`)
