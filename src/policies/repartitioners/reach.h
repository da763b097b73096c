// Reach: which jobs that wait have a slice to wait for, with the layouts that GPUs are to have.
// Where running jobs may be interrupted, they count as well.
//
// A forecast ends; what waits for ever costs little in it. So whoever decides by forecasts asks
// here whether a change would leave a job with no slice that could ever run it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decide/layout_request.h"
#include "decide/view.h"

namespace partita::policies {

class Reach {
 public:
  // Looks at the jobs that wait, and at what GPUs offer with these layouts, one a GPU: no instance
  // where a slice is kept from use. Takes time in proportion to both.
  void look(const decide::View& view, std::span<const mig::Layout> layouts);
  // A job that fits these profiles came. For a day changes are not made that would leave the next
  // such job with nothing to wait for, whether one waits or not.
  void expect(std::uint16_t fits, Micros now);
  void forget();
  // Whether the layout has an instance that every job fits that ever came: it strands nobody,
  // without a look.
  bool suits_all(const decide::View& view, const decide::LayoutRequest& request) const;
  // The GPU is to have another layout from now on.
  void change(const decide::View& view, const decide::LayoutRequest& request);

  // Whether a slice of one of the profiles, bit i for profile i, is offered.
  bool offers(std::uint16_t profiles) const { return (offered() & profiles) != 0; }
  bool any_stranded() const;
  // Whether a job that waits or is expected, and has a slice to wait for, would have none after the
  // change.
  bool strands(const decide::View& view, const decide::LayoutRequest& request) const;
  // The change to one of these layouts that gives the stranded job that came first a slice to wait
  // for, and takes it from none that came before it; the next job's where there is no such change.
  // Of the idlest GPU, and of its layouts the one of the most instances.
  std::optional<decide::LayoutRequest> relief(const decide::View& view,
                                              std::span<const mig::Layout> layouts) const;

 private:
  // Waiting jobs that fit the same profiles.
  struct Kind {
    std::uint16_t fits = 0;
    Micros arrival;  // of the first
    JobId id;

    bool before(const Kind& other) const {
      return arrival != other.arrival ? arrival < other.arrival : id < other.id;
    }
  };

  void list_kinds(const decide::View& view);
  std::uint16_t offered() const;
  std::uint16_t offered_after(const decide::View& view, const decide::LayoutRequest& request) const;
  std::optional<decide::LayoutRequest> relief_of(const decide::View& view, std::size_t kind,
                                                 std::span<const mig::Layout> layouts) const;

  static constexpr std::uint16_t kAnyProfile = 0xFFFF;
  struct Expected {
    std::uint16_t fits = 0;
    Micros last;  // when one came
  };

  std::vector<Kind> kinds_;  // the one whose first job came first in front
  std::vector<Expected> expected_;
  std::uint16_t fits_all_ = kAnyProfile;  // profiles that every job fits that was expected
  Micros looked_;
  std::vector<std::uint16_t> offers_;  // by GPU: profiles, bit i for profile i
};

}  // namespace partita::policies
