import { html } from '@tandem/web/html.ts'
import { renderPage } from '@tandem/web/shell.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { attackerText } from '../support/attacker-text.ts'
import { SEED } from '../support/seed.ts'

/** Tags of a text, as a parser of HTML would begin them. */
const tagsOf = (text: string): readonly string[] => text.match(/<[!/?a-z]/gi) ?? []

const unescaped = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

test('no text adds a tag, an attribute or an entity of its own, and every text can be read back', () => {
  fc.assert(
    fc.property(attackerText(), attackerText(), (title, text) => {
      const made = html`<p title="${title}">${text}</p>`.toString()
      const match = /^<p title="([^"<>']*)">([^<>"']*)<\/p>$/s.exec(made)
      expect(match).not.toBeNull()
      expect(unescaped(match?.[1] as string)).toBe(title)
      expect(unescaped(match?.[2] as string)).toBe(text)
      expect(made.match(/&(?!amp;|lt;|gt;|quot;|#39;)/)).toBeNull()
    }),
    { seed: SEED },
  )
})

test('title and search text leave the tags of a page as they are', () => {
  const site = { network: 'devnet', symbol: 'T', version: '1', explorerUrl: '/explorer', faucet: false }
  const plain = tagsOf(renderPage({ site, title: 'x', path: '/', search: 'x', body: 'x' }))
  fc.assert(
    fc.property(attackerText(), attackerText(), (title, search) => {
      expect(tagsOf(renderPage({ site, title, path: '/', search, body: search }))).toEqual(plain)
    }),
    { seed: SEED, numRuns: 50 },
  )
})
