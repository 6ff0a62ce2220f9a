/** Visited states in the order found, each with the step that first led there. A state is a tuple of member numbers. */
export class StateSet {
  readonly #known = new Set<string>()
  readonly #states: (readonly number[])[] = []
  readonly #parents: number[] = []
  readonly #steps: string[] = []
  readonly #depths: number[] = []

  get size(): number {
    return this.#states.length
  }

  get depth(): number {
    return this.#depths.at(-1) ?? 0
  }

  get(at: number): readonly number[] {
    return this.#states[at] as readonly number[]
  }

  add(state: readonly number[], parent: number, step: string): void {
    const key = String.fromCharCode(...state)
    if (this.#known.has(key)) return
    this.#known.add(key)
    this.#states.push(state)
    this.#parents.push(parent)
    this.#steps.push(step)
    this.#depths.push(parent < 0 ? 0 : (this.#depths[parent] as number) + 1)
  }

  /** The steps that led to a state, first one first. */
  path(at: number): readonly string[] {
    const steps: string[] = []
    for (let state = at; (this.#parents[state] as number) >= 0; state = this.#parents[state] as number) {
      steps.push(this.#steps[state] as string)
    }
    return steps.reverse()
  }
}
