// The selection of a widget: its trait `address`, which Python and other places that show the widget have too.

import { Selection, type Clicked, type Detail } from "../shared/selections";
import type { Model } from "./model";

export class ModelSelection extends Selection {
  address: string;
  detail: Detail | null = null;
  clicked: Clicked | null = null;
  private readonly onModel = (): void => this.follow();

  constructor(private readonly model: Model) {
    super();
    this.address = textOf(model);
    model.on("change:address", this.onModel);
  }

  select(address: string, clicked?: Omit<Clicked, "address">): void {
    if (address === this.address && !clicked) return;
    this.put(address, null, clicked ? { ...clicked, address } : null);
  }

  lead(address: string, detail: Omit<Detail, "address">): void {
    this.put(address, { ...detail, address }, null);
  }

  refine(address: string): void {
    if (address !== this.address) this.put(address, null, this.clicked && { ...this.clicked, address });
  }

  end(): void {
    this.model.off("change:address", this.onModel);
  }

  private put(address: string, detail: Detail | null, clicked: Clicked | null): void {
    [this.address, this.detail, this.clicked] = [address, detail, clicked];
    if (address !== textOf(this.model)) {
      this.model.set("address", address);
      this.model.save_changes();
    }
    this.again();
  }

  private follow(): void {
    const address = textOf(this.model);
    // What was clicked here is known here already, and better.
    if (address === this.address) return;
    [this.address, this.detail, this.clicked] = [address, null, null];
    this.again();
  }
}

function textOf(model: Model): string {
  const value = model.get("address");
  return typeof value === "string" ? value : "";
}
