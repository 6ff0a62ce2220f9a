import { type Html, html } from '@tandem/web/html.ts'
import { pathTo } from './links.ts'

type Values = Readonly<Record<string, string>>

/** Names of the EVM's versions, as the compiler takes them. */
const EVM_VERSIONS = ['osaka', 'prague', 'cancun', 'shanghai', 'paris', 'london', 'berlin', 'istanbul'] as const

const option = (value: string, label: string, selected: string | undefined): Html =>
  html`<option value="${value}"${value === selected && html` selected`}>${label}</option>`

const text = (id: string, label: string, values: Values, hint: string): Html => html`
<div class="field"><label for="${id}">${label}</label>
<input id="${id}" name="${id}" type="text" value="${values[id]}" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="${id}-hint">
<small id="${id}-hint">${hint}</small></div>`

const check = (id: string, label: string, values: Values): Html => html`
<label class="check"><input type="checkbox" name="${id}" value="1"${values[id] === '1' && html` checked`}> ${label}</label>`

/** Form that submits source code; the values are those of a refused submission. */
export const verifyForm = (values: Values, compilers: readonly string[]): Html => html`
<form class="form" method="post" action="${pathTo('verify')}">
${text('address', 'Address of the contract', values, '0x and 40 hex digits')}
${text('contract', 'Name of the contract', values, 'as Token, or as src/Token.sol:Token where several files have one of that name')}
<div class="field"><label for="compiler">Compiler</label>
<select id="compiler" name="compiler">${compilers.map(version => option(version, `solc ${version}`, values['compiler']))}</select></div>
<div class="field"><label for="format">Kind of source</label>
<select id="format" name="format" aria-describedby="format-hint">${option('file', 'One Solidity file', values['format'])}${option('json', 'Standard JSON input', values['format'])}</select>
<small id="format-hint">A project of several files: standard JSON input, which forge and hardhat write with their build info.</small></div>
<div class="field wide"><label for="source">Source code</label>
<textarea id="source" name="source" rows="12" spellcheck="false" autocomplete="off">${values['source']}</textarea></div>
<fieldset class="wide"><legend>Settings of one file; standard JSON input brings its own</legend><div class="checks">
${check('optimizer', 'Optimizer', values)}
<label class="check">Runs <input name="runs" type="text" inputmode="numeric" value="${values['runs'] ?? '200'}" size="8"></label>
${check('viair', 'Via IR', values)}
<label class="check">EVM <select name="evm">${option('', 'default', values['evm'])}${EVM_VERSIONS.map(name => option(name, name, values['evm']))}</select></label>
</div></fieldset>
${text('arguments', 'Constructor arguments', values, 'ABI-encoded as hex; empty: they are read from the chain')}
<div class="wide"><button type="submit">Verify</button></div>
</form>`
