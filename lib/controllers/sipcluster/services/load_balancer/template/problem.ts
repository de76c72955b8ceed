/**
 * Why a template cannot be used.
 * @module
 */

/** A problem of a template, with the line on which it is. Its message is a sentence without a full stop. */
export class TemplateProblem extends Error {
  override readonly name = "TemplateProblem";
  /** From 1. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}
