import { assert } from '@tandem/base/assert.ts'

/** Markup whose interpolated values are escaped. Only `html` makes it, so no other text can stand for markup. */
class Markup {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

export type Html = Markup

/** Values of a template: markup stays, text and numbers are escaped, null, undefined and false leave nothing. */
export type Fragment = Html | string | number | bigint | null | undefined | false | readonly Fragment[]

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text as it may stand between tags and between the quotes of an attribute. */
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, character => ENTITIES[character] as string)

const textOf = (value: Fragment): string => {
  if (value instanceof Markup) return value.toString()
  if (value === null || value === undefined || value === false) return ''
  if (typeof value === 'object') return value.map(textOf).join('')
  return escapeHtml(String(value))
}

/** Templates that were checked. */
const checked = new WeakSet<TemplateStringsArray>()

/** A value directly after `name=` would be an attribute without quotes, in which a space begins another attribute. */
const check = (strings: TemplateStringsArray): void => {
  if (checked.has(strings)) return
  let before = ''
  for (const part of strings.slice(0, -1)) {
    before += part
    const quotes = before.slice(before.lastIndexOf('<') + 1).split('"').length - 1
    assert(!part.endsWith('=') || quotes % 2 === 1, 'an attribute has its value in quotes')
  }
  checked.add(strings)
}

/** Tag of templates: html`<p title="${title}">${text}</p>`. Values stand between tags or in quoted attributes. */
export const html = (strings: TemplateStringsArray, ...values: readonly Fragment[]): Html => {
  check(strings)
  let text = strings[0] as string
  values.forEach((value, index) => {
    text += textOf(value) + strings[index + 1]
  })
  return new Markup(text)
}

export const NOTHING: Html = html``
